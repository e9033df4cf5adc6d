// SPDX-License-Identifier: MIT
#include "run/find_torch/import_path.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::find_torch {
namespace {

constexpr std::size_t k_most_of_a_text = 64 << 10;

/// "python3.11" for that and for "python3.11-config"'s like; empty where a name has no minor version.
std::string versioned_name(const std::string& name) {
  constexpr std::string_view k_start = "python3.";
  if (!name.starts_with(k_start)) return {};
  auto end = k_start.size();
  while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
  return end == k_start.size() ? std::string() : name.substr(0, end);
}

/// "home = /usr/bin" of pyvenv.cfg.
std::string config_value(const std::string& text, const std::string& key) {
  for (const auto& line : util::split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos || util::to_lower(std::string(util::trim(line.substr(0, equals)))) != key)
      continue;
    return std::string(util::trim(std::string_view(line).substr(equals + 1)));
  }
  return {};
}

/// An installed Python: its prefix and the names of its directories.
struct Installation {
  std::string prefix;
  std::string name; ///< "python3.11"
};

/// Returns the installation of the Python `program`, which is not in a virtual environment.
Installation find_installation(const std::string& program, const FileSystemView& files) {
  const auto real = follow_links(program, files);
  Installation found{util::directory_name(util::directory_name(real)), versioned_name(util::base_name(real))};
  if (found.prefix == "/") found.prefix.clear();
  if (!found.name.empty()) return found;
  std::vector<std::string> versions;
  for (const auto& name : files.names(found.prefix + "/lib"))
    if (!name.empty() && versioned_name(name) == name) versions.push_back(name);
  if (versions.size() == 1) found.name = versions.front();
  return found;
}

class Walk {
public:
  Walk(const PythonImportOptions& options, const util::EnvSnapshot& env, const FileSystemView& files,
       const DirectoryVisitor& see)
      : x_options(options), x_env(env), x_files(files), x_see(see) {}

  std::string variable(const char* name) const {
    return x_options.no_variables ? std::string() : x_env.get_or(name, "");
  }
  bool visit(const std::string& directory) { return x_see(directory, nullptr); }

  /// Visits a directory of packages, and those that its .pth files name.
  bool visit_site(const std::string& directory) {
    if (visit(directory)) return true;
    const auto names = x_files.names(directory);
    if (!names.empty() && x_see(directory, &names)) return true;
    for (const auto& name : names) {
      if (!name.ends_with(".pth") || name.starts_with(".")) continue;
      const auto text = x_files.read(directory + "/" + name, k_most_of_a_text);
      for (const auto& line : util::split(text.value_or(""), '\n')) {
        const std::string entry(util::trim(line));
        if (entry.empty() || entry[0] == '#' || entry.starts_with("import ") || entry.starts_with("import\t"))
          continue;
        if (visit(absolute_path(entry, directory))) return true;
      }
    }
    return false;
  }

  bool visit_sites(const Installation& python) {
    const auto& [prefix, name] = python;
    std::vector<std::string> directories;
    if (prefix == "/usr" || prefix.empty()) { // Debian's own directories, and Fedora's for packages of pip
      directories = {"/usr/local/lib/" + name + "/dist-packages",
                     "/usr/local/lib64/" + name + "/site-packages",
                     "/usr/local/lib/" + name + "/site-packages", "/usr/lib/python3/dist-packages"};
    }
    directories.push_back(prefix + "/lib/" + name + "/site-packages");
    directories.push_back(prefix + "/lib64/" + name + "/site-packages");
    return std::any_of(directories.begin(), directories.end(),
                       [&](const auto& directory) { return visit_site(directory); });
  }

  bool visit_user(const std::string& name) {
    if (x_options.no_user_site || !variable("PYTHONNOUSERSITE").empty()) return false;
    auto base = variable("PYTHONUSERBASE");
    if (base.empty() && !x_env.get_or("HOME", "").empty()) base = x_env.get_or("HOME", "") + "/.local";
    return !base.empty() && visit_site(base + "/lib/" + name + "/site-packages");
  }

  /// EasyBuild's Pythons add the directories of their modules this way if PYTHONPATH does not contain
  /// them.
  bool visit_easybuild(const std::string& name) {
    for (const auto& prefix : util::split(x_env.get_or("EBPYTHONPREFIXES", ""), ':'))
      if (!prefix.empty() && visit_site(prefix + "/lib/" + name + "/site-packages")) return true;
    return false;
  }

private:
  const PythonImportOptions& x_options;
  const util::EnvSnapshot& x_env;
  const FileSystemView& x_files;
  const DirectoryVisitor& x_see;
};

/// What a virtual environment says of itself.
struct Virtual {
  std::string prefix, text;
};

std::optional<Virtual> find_virtual(const std::string& program, const FileSystemView& files) {
  const auto directory = util::directory_name(program);
  for (const auto& prefix : {util::directory_name(directory), directory})
    if (auto text = files.read(prefix + "/pyvenv.cfg", k_most_of_a_text))
      return Virtual{prefix, std::move(*text)};
  return std::nullopt;
}

std::string name_of_virtual(const Virtual& environment) {
  for (const auto* key : {"version", "version_info"}) {
    const auto parts = util::split(config_value(environment.text, key), '.');
    if (parts.size() >= 2) return "python" + parts[0] + "." + parts[1];
  }
  return {};
}

/// Visits the directories after PYTHONPATH; true once `walk` has found its target.
bool visit_packages(Walk& walk, const std::string& program, const FileSystemView& files, std::string& why) {
  Installation base;
  if (const auto environment = find_virtual(program, files)) {
    Installation own{environment->prefix, name_of_virtual(*environment)};
    const bool system =
        util::to_lower(config_value(environment->text, "include-system-site-packages")) == "true";
    if (system || own.name.empty())
      base =
          find_installation(config_value(environment->text, "home") + "/" + util::base_name(program), files);
    if (own.name.empty()) own.name = base.name;
    if (own.name.empty()) {
      why = fmt::format("{}/pyvenv.cfg contains no Python version", environment->prefix);
      return false;
    }
    if (walk.visit_sites(own)) return true;
    if (!system) return walk.visit_easybuild(own.name);
  } else {
    base = find_installation(program, files);
  }
  if (base.name.empty()) {
    why = fmt::format("the Python version of {} is unknown", program);
    return false;
  }
  return walk.visit_user(base.name) || walk.visit_sites(base) || walk.visit_easybuild(base.name);
}

} // namespace

std::string absolute_path(const std::string& path, const std::string& directory) {
  return path.starts_with("/") ? path : directory + (path.empty() ? "" : "/" + path);
}

std::string follow_links(std::string path, const FileSystemView& files) {
  for (int depth = 0; depth < 16; ++depth) {
    const auto target = files.link(path);
    if (!target) break;
    path = absolute_path(*target, util::directory_name(path));
  }
  return path;
}

PythonImportOptions read_import_options(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                                        const std::string& cwd, const FileSystemView& files) {
  PythonImportOptions options;
  bool safe = false;
  std::optional<std::string> script;
  bool runs_elsewhere = false; // -m or -c: Python imports from the directory in which it is started
  for (std::size_t i = 0; i < words.size() && !script && !runs_elsewhere; ++i) {
    const auto& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      if (word != "-") script = word;
      runs_elsewhere = word == "-";
      continue;
    }
    if (word[1] == '-') {
      if (word == "--check-hash-based-pycs") ++i;
      continue;
    }
    for (std::size_t at = 1; at < word.size() && !runs_elsewhere; ++at) {
      const char letter = word[at];
      options.no_variables = options.no_variables || letter == 'E' || letter == 'I';
      options.no_user_site = options.no_user_site || letter == 's' || letter == 'I';
      options.no_site = options.no_site || letter == 'S';
      safe = safe || letter == 'P' || letter == 'I';
      runs_elsewhere = letter == 'm' || letter == 'c';
      if (letter != 'W' && letter != 'X') continue;
      if (at + 1 == word.size()) ++i;
      break;
    }
  }
  if (!options.no_variables && !env.get_or("PYTHONSAFEPATH", "").empty()) safe = true;
  if (safe) return options;
  options.own_path = script ? util::directory_name(follow_links(absolute_path(*script, cwd), files)) : cwd;
  return options;
}

std::string visit_import_directories(const std::string& program, const PythonImportOptions& options,
                                     const util::EnvSnapshot& env, const std::string& cwd,
                                     const FileSystemView& files, const DirectoryVisitor& see) {
  Walk walk(options, env, files, see);
  std::string why;
  if (options.own_path && walk.visit(*options.own_path)) return why;
  const auto path = walk.variable("PYTHONPATH");
  if (!path.empty())
    for (const auto& directory : util::split(path, ':'))
      if (walk.visit(absolute_path(directory, cwd))) return why;
  if (!options.no_site) visit_packages(walk, program, files, why);
  return why;
}

} // namespace hpcml::find_torch
