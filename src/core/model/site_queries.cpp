// SPDX-License-Identifier: MIT
#include "core/model/site_queries.hpp"

#include <algorithm>
#include <array>

#include "core/util/text.hpp"

namespace hpcml::model {
namespace {

std::string to_upper(std::string text) {
  for (auto& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

/// Adds the names of the variables in a text: SCRATCH of "$SCRATCH/x" and of "${SCRATCH}/x".
void add_variables(std::vector<std::string>& names, std::string_view text) {
  for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    const auto begin = at + (text.substr(at + 1, 1) == "{" ? 2 : 1);
    auto end = begin;
    while (end < text.size() && util::is_name_char(text[end])) ++end;
    if (end > begin) util::add_once(names, std::string(text.substr(begin, end - begin)));
  }
}

} // namespace

bool is_common_variable(std::string_view name) {
  static constexpr std::array<std::string_view, 45> k_common = {
      "BASH",         "BASHPID",  "BASH_SOURCE",     "BASH_VERSION",
      "COLUMNS",      "CPATH",    "DISPLAY",         "EDITOR",
      "EPOCHSECONDS", "EUID",     "FUNCNAME",        "GROUPS",
      "HOME",         "HOSTNAME", "HOSTTYPE",        "IFS",
      "LANG",         "LC_ALL",   "LD_LIBRARY_PATH", "LD_PRELOAD",
      "LINENO",       "LOGNAME",  "MACHTYPE",        "MASTER_ADDR",
      "MASTER_PORT",  "OLDPWD",   "OPTARG",          "OPTIND",
      "OSTYPE",       "PATH",     "PIPESTATUS",      "PPID",
      "PS1",          "PWD",      "PYTHONPATH",      "RANDOM",
      "REPLY",        "SECONDS",  "SHELL",           "SHLVL",
      "SRANDOM",      "TERM",     "TMPDIR",          "UID",
      "USER"};
  if (util::contains(k_common, name) || name.starts_with("SLURMD_")) return true;
  // These two are directories that some sites set up, not Slurm's.
  if (name.starts_with("SLURM_")) return name != "SLURM_TMPDIR" && name != "SLURM_SCRATCH";
  return name.find("RANK") != std::string_view::npos || name == "WORLD_SIZE" || name == "LOCAL_WORLD_SIZE";
}

std::vector<std::string> site_variables(const Site& site) {
  std::vector<std::string> names;
  const auto add_all = [&](const auto& list, const auto& text) {
    for (const auto& item : list) add_variables(names, text(item));
  };
  for (const auto* path : {&site.storage.scratch, &site.storage.project}) add_variables(names, *path);
  add_all(site.python, [](const auto& rule) { return rule.where; });
  add_all(site.node_types, [](const auto& type) { return type.local_disk.value_or(""); });
  add_all(site.caches, [](const auto& rule) { return rule.base; });
  add_all(site.env, [](const auto& rule) { return rule.expression ? rule.value : std::string(); });
  add_all(site.submit.require_directories, [](const auto& path) { return path; });
  add_all(site.submit.forbid_directories, [](const auto& path) { return path; });
  for (const auto& rule : site.env) util::add_once(names, rule.name);
  return names;
}

bool has_job_variable(const Site& site, const std::string& name) {
  const auto prefix = module_root_prefix(site);
  return is_common_variable(name) || (!prefix.empty() && name.starts_with(prefix)) ||
         util::contains(site_variables(site), name);
}

std::string module_root_prefix(const Site& site) {
  std::vector<std::string> names;
  for (const auto& directory : site.libtorch_link_directories) add_variables(names, directory);
  for (const auto& module : site.libtorch_modules) {
    const auto name = to_upper(module.substr(0, module.find('/')));
    for (const auto& variable : names)
      if (variable.size() > name.size() && variable.ends_with(name))
        return variable.substr(0, variable.size() - name.size());
  }
  return {};
}

bool has_python(const Site& site, PythonPackageSource kind) {
  return std::any_of(site.python.begin(), site.python.end(),
                     [&](const auto& rule) { return rule.kind == kind; });
}

} // namespace hpcml::model
