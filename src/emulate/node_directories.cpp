// SPDX-License-Identifier: MIT
#include "emulate/node_directories.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;

/// Below the state directory; the epilog empties what matches.
std::string source_name(const std::string& node, std::size_t number) {
  return "nodes/" + node + "/tmp" + std::to_string(number);
}

/// Directories and links to them; files stay.
std::vector<std::string> list_directories(const fs::path& place) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(place, error), end; entry != end && !error; entry.increment(error)) {
    std::error_code ignored;
    const auto name = entry->path().filename().string();
    if (name.find('\n') == std::string::npos && entry->is_directory(ignored)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

TemporaryDirectories find_temporary_places(const util::EnvSnapshot& env,
                                           const std::string& working_directory) {
  TemporaryDirectories places;
  std::vector<fs::path> taken;
  const auto same = [](const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return fs::equivalent(a, b, ignored);
  };
  for (const std::string& name : {std::string("/tmp"), std::string("/var/tmp"), env.get_or("TMPDIR", "")}) {
    std::error_code error;
    const auto place = name.empty() ? fs::path() : fs::canonical(name, error);
    if (place.empty() || error || place == "/" || !fs::is_directory(place, error)) continue;
    if (std::any_of(taken.begin(), taken.end(),
                    [&](const auto& other_place) { return same(place, other_place); }))
      continue;
    taken.push_back(place);
    const bool is_working_directory = same(place, working_directory);
    if (is_working_directory || same(place, env.get_or("HOME", ""))) {
      places.notes.push_back(fmt::format(
          "the emulated nodes share {}, {} directory to give each node its own, as on the site", name,
          is_working_directory ? "the working directory; run hpcml emulate in another"
                               : "your home directory; set HOME to another"));
      continue;
    }
    places.directories.push_back({place.string(), {}, list_directories(place)});
  }
  std::stable_sort(places.directories.begin(), places.directories.end(),
                   [](const auto& a, const auto& b) { return a.target.size() < b.target.size(); });
  return places;
}

std::vector<PerNodeDirectory> own_directories_of(const TemporaryDirectories& places,
                                                 const std::string& state_dir, const std::string& node) {
  auto directories = places.directories;
  for (std::size_t i = 0; i < directories.size(); ++i)
    directories[i].source = state_dir + "/" + source_name(node, i);
  return directories;
}

util::Status make_own_directories(const std::vector<PerNodeDirectory>& directories) {
  for (const auto& directory : directories) {
    std::error_code error;
    fs::create_directories(directory.source, error);
    if (!error) fs::permissions(directory.source, fs::perms::all | fs::perms::sticky_bit, error);
    if (error)
      return util::Error{fmt::format("cannot create {} for the temporary files of an emulated node: {}",
                                     directory.source, error.message()),
                         "check the free memory of this machine (free -h), which holds these files"};
  }
  return util::Success{};
}

std::vector<std::pair<std::string, std::string>> make_kept_lists(const TemporaryDirectories& places) {
  std::vector<std::pair<std::string, std::string>> files;
  for (std::size_t i = 0; i < places.directories.size(); ++i)
    files.emplace_back("lib/kept" + std::to_string(i), places.directories[i].target + "\n" +
                                                           util::join(places.directories[i].kept, "\n") +
                                                           "\n");
  return files;
}

} // namespace hpcml::emulate
