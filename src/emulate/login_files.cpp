// SPDX-License-Identifier: MIT
#include "emulate/login_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "core/util/file.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "emulate/stand_in_files.hpp"

namespace hpcml::emulate {

namespace {

using model::Site;

bool mentions(const std::string& text, const std::string& variable) {
  return text.find("$" + variable) != std::string::npos || text.find("${" + variable) != std::string::npos;
}

/// True when a path in the profile is under the variable: then jobs of the site have it.
bool site_mentions(const Site& site, const std::string& variable) {
  const auto any = [&](const auto& list, const auto& text) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& item) { return mentions(text(item), variable); });
  };
  return mentions(site.storage.scratch, variable) ||
         any(site.python, [](const auto& rule) { return rule.where; }) ||
         any(site.node_types, [](const auto& type) { return type.local_disk.value_or(""); }) ||
         any(site.caches, [](const auto& rule) { return rule.base; }) ||
         any(site.env, [](const auto& rule) { return rule.expression ? rule.value : std::string(); });
}

/// $SCRATCH and the like, which are the user's directories in the state directory.
std::map<std::string, std::string> storage_variables(const Site& site, const std::string& state_dir,
                                                     const std::string& user) {
  std::map<std::string, std::string> variables;
  for (const auto* name : {"SCRATCH", "WORK"})
    if (site_mentions(site, name)) variables[name] = state_dir + "/" + util::to_lower(name) + "/" + user;
  return variables;
}

} // namespace

std::string module_function(const std::string& state_dir) {
  const std::string lib = state_dir + "/lib/";
  return fmt::format("() {{ . {}common.sh && . {}module.sh && hpcml_module \"$@\"; }}", lib, lib);
}

bool has_job_directory(const Site& site) { return site_mentions(site, "SLURM_TMPDIR"); }

std::map<std::string, std::string> make_login_variables(const Site& site, const std::string& state_dir,
                                                        const std::string& user) {
  auto variables = storage_variables(site, state_dir, user);
  variables["BASH_FUNC_module%%"] = module_function(state_dir);
  variables["BASH_FUNC_ml%%"] = "() { module load \"$@\"; }";
  return variables;
}

std::string make_login_profile(const Site& site, const std::string& state_dir, const std::string& user) {
  auto text = util::replace_all(std::string(stand_in_text("login_profile.sh")), "@STATE_DIR@", state_dir);
  for (const auto& [name, value] : storage_variables(site, state_dir, user))
    text += "export " + name + "=" + util::shell_quote(value) + "\n";
  return text;
}

util::Result<std::string> write_login_profile(const Site& site, const std::string& state_dir,
                                              const std::string& user) {
  const std::filesystem::path directory = state_dir + "/profile.d";
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  TRY_DONE(util::write_file(directory / "site.sh", make_login_profile(site, state_dir, user)));
  return directory.string();
}

} // namespace hpcml::emulate
