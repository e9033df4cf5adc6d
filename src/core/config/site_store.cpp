// SPDX-License-Identifier: MIT
#include "core/config/site_store.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "core/config/profile_layers.hpp"
#include "core/config/site_facts.hpp"
#include "core/config/site_reader.hpp"
#include "core/config/text_file.hpp"
#include "core/config/text_rule.hpp"
#include "core/util/embedded.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"

namespace hpcml::config {

namespace fs = std::filesystem;

namespace {

const std::string k_schema_file = "schema.json";

/// Looks profiles up by id; remembers what it could not read.
class Finder {
public:
  explicit Finder(const std::vector<std::string>& directories) : x_directories(directories) {}

  std::optional<ProfileFile> operator()(const std::string& id, std::size_t from) {
    if (!text_fault(id, TextRule::name).empty() || id + ".json" == k_schema_file) return std::nullopt;
    for (std::size_t i = from; i < x_directories.size(); ++i) {
      const auto path = fs::path(x_directories[i]) / (id + ".json");
      std::error_code error;
      if (!fs::exists(fs::symlink_status(path, error))) continue;
      auto text = load_text_file(path.string());
      if (text) return ProfileFile{path.string(), std::move(*text), false, i, id};
      unreadable = text.error();
      return std::nullopt;
    }
    return find_built_in(id, x_directories.size());
  }

  std::optional<util::Error> unreadable;

private:
  const std::vector<std::string>& x_directories;
};

/// The text that carets point into: only one can be shown, so it must be the one all findings are about.
std::string caret_source(const diag::Diagnostics& list, const std::vector<ProfileFile>& files) {
  std::set<std::string> named;
  for (const auto& diagnostic : list) named.insert(diagnostic.location.file);
  if (named.size() != 1) return list.empty() && !files.empty() ? files.front().text : std::string();
  for (const auto& file : files) {
    if (file.path == *named.begin()) return file.text;
  }
  return {};
}

SiteLoad unreadable_site(const std::string& path, const util::Error& error) {
  SiteLoad load;
  load.diagnostics.push_back({diag::Severity::error,
                              "site/unreadable",
                              fmt::format("cannot use the site profile: {}", error.what),
                              {path},
                              error.hint});
  return load;
}

SiteLoad to_site(ProfileLoadResult layers, const ProfileFile& file) {
  SiteLoad load;
  load.diagnostics = std::move(layers.diagnostics);
  if (layers.root) {
    auto read = read_site(*layers.root, file.built_in ? "built in" : file.path,
                          layers.checked_by_build ? ProfileValidationTime::done_by_build
                                                  : ProfileValidationTime::whole);
    // A place that some layer would have filled is not the mistake.
    if (!layers.whole)
      std::erase_if(read.diagnostics, [](const diag::Diagnostic& d) { return d.code == "site/missing"; });
    load.diagnostics.insert(load.diagnostics.end(), read.diagnostics.begin(), read.diagnostics.end());
    if (read.site && !diag::has_errors(load.diagnostics)) load.site = std::move(read.site);
  }
  diag::sort_by_place(load.diagnostics);
  load.source = caret_source(load.diagnostics, layers.files);
  for (const auto& layer : layers.files) load.layers.push_back(layer.id);
  return load;
}

SiteLoad unknown_site(const std::string& message, const std::string& id,
                      const std::vector<std::string>& directories) {
  SiteLoad load;
  load.not_found = true;
  const auto near = util::nearest(id, list_sites(directories));
  load.diagnostics.push_back(
      {diag::Severity::error,
       "site/unknown",
       message,
       {},
       near ? fmt::format("use '{}', or add a profile: --sites-dir DIR, hpcml sites discover", *near)
            : "run hpcml sites list, or add a profile: --sites-dir DIR, hpcml sites discover"});
  return load;
}

std::set<std::string> all_ids(const std::vector<std::string>& directories) {
  auto ids = own_profiles(directories);
  for (const auto& file : embedded::site_files())
    ids.insert(std::string(file.name.substr(0, file.name.size() - 5)));
  return ids;
}

} // namespace

std::vector<std::string> named_site_directories(const util::EnvSnapshot& env) {
  std::vector<std::string> directories;
  // Home and working directory are this machine's: a program started elsewhere must find the same
  // directories.
  for (const auto& directory : util::split(env.get_or("HPCML_SITES_PATH", ""), ':'))
    if (!directory.empty())
      directories.push_back(util::absolute_path(directory, util::user_places(env)).value_or(directory));
  return directories;
}

std::vector<std::string> site_directories(const std::vector<std::string>& from_flags,
                                          const util::EnvSnapshot& env) {
  auto directories = from_flags;
  const auto named = named_site_directories(env);
  directories.insert(directories.end(), named.begin(), named.end());
  if (const auto config = config_directory(env); !config.empty()) directories.push_back(config + "/sites");
  directories.emplace_back("/etc/hpcml/sites");
  return directories;
}

SiteLoad load_site(const std::string& id, const std::vector<std::string>& directories,
                   ProfilesToValidate scope) {
  Finder finder(directories);
  const auto file = finder(id, 0);
  if (!file && finder.unreadable) return unreadable_site(id + ".json", *finder.unreadable);
  if (!file) return unknown_site(fmt::format("unknown site \"{}\"", id), id, directories);
  auto layers = load_layers(*file, std::ref(finder), scope);
  if (layers.is_abstract)
    return unknown_site(fmt::format("\"{}\" is a profile that several sites share, not a site", id), id,
                        directories);
  auto load = to_site(std::move(layers), *file);
  if (load.site && load.site->id != id) {
    load.diagnostics.push_back(
        {diag::Severity::error,
         "site/id",
         fmt::format("the profile file is called {}.json, but its \"id\" is \"{}\"", id, load.site->id),
         {file->path},
         fmt::format("set \"id\": \"{}\", or use {}.json as the name of the file", id, load.site->id)});
    load.site.reset();
  }
  return load;
}

SiteLoad load_site_file(const std::string& path, const std::vector<std::string>& directories) {
  auto text = load_text_file(path);
  if (!text) return unreadable_site(path, text.error());
  // Its layers may be next to it, as in a directory of --sites-dir; one that is none of these comes before
  // them all.
  auto search_path = directories;
  std::error_code error;
  const auto own = fs::absolute(path, error).parent_path();
  const auto same = [&](const std::string& candidate) { return fs::equivalent(candidate, own, error); };
  auto found = std::find_if(search_path.begin(), search_path.end(), same);
  if (found == search_path.end()) found = search_path.insert(search_path.begin(), own.string());
  const auto place = static_cast<std::size_t>(found - search_path.begin());
  Finder finder(search_path);
  const ProfileFile file{path, std::move(*text), false, place, fs::path(path).stem().string()};
  return to_site(load_layers(file, std::ref(finder)), file);
}

model::Site as_of(model::Site site, const std::string& day) {
  if (site.until.empty() || day <= site.until) return site;
  site.state = model::SiteState::retired;
  if (site.retired_on.empty()) site.retired_on = site.until;
  return site;
}

SiteFacts load_facts(const std::string& id, const std::vector<std::string>& directories) {
  Finder finder(directories);
  const auto file = finder(id, 0);
  if (!file) return {};
  const auto layers = load_layers(*file, std::ref(finder));
  return layers.root ? make_facts(*layers.root) : SiteFacts{};
}

std::set<std::string> own_profiles(const std::vector<std::string>& directories) {
  std::set<std::string> ids;
  for (const auto& directory : directories) {
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".json" && it->path().filename() != k_schema_file)
        ids.insert(it->path().stem().string());
    }
  }
  return ids;
}

std::vector<std::string> list_sites(const std::vector<std::string>& directories) {
  std::vector<std::string> ids;
  Finder finder(directories);
  for (const auto& id : all_ids(directories)) {
    const auto file = finder(id, 0);
    // Layers say "abstract": true; a file that cannot be parsed is listed, so that loading it says why.
    // Reading dozens of files for one word would be most of what listing costs.
    if (!file || file->text.find("\"abstract\"") == std::string::npos) {
      ids.push_back(id);
      continue;
    }
    const auto parsed = parse_json(file->text, file->path, "site");
    const auto* abstract = parsed.root ? parsed.root->find("abstract") : nullptr;
    if (!abstract || !abstract->is(JsonKind::boolean) || !abstract->boolean) ids.push_back(id);
  }
  return ids;
}

} // namespace hpcml::config
