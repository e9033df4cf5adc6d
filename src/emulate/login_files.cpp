// SPDX-License-Identifier: MIT
#include "emulate/login_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "core/model/site_queries.hpp"
#include "core/util/file.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"
#include "emulate/stand_in_files.hpp"

namespace hpcml::emulate {

namespace {

using model::Site;

/// The variables that these paths begin with, without those that every login has.
std::vector<std::string> leading_variables(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths)
    if (const auto name = util::leading_variable(path); !name.empty() && !model::is_common_variable(name))
      util::add_once(names, name);
  return names;
}

bool is_of_job(const std::string& name) { return name.starts_with("SLURM_"); }

/// $SCRATCH and the like, which are the user's directories in the state directory.
std::map<std::string, std::string> storage_variables(const Site& site, const std::string& state_dir,
                                                     const std::string& user) {
  std::vector<std::string> paths = {site.storage.scratch, site.storage.project};
  for (const auto& rule : site.python) paths.push_back(rule.where);
  for (const auto& rule : site.caches) paths.push_back(rule.base);
  for (const auto& rule : site.env) paths.push_back(rule.expression ? rule.value : std::string());
  for (const auto& path : site.submit.require_directories) paths.push_back(path);
  const auto of_jobs = job_directory_variables(site);
  std::map<std::string, std::string> variables;
  for (const auto& name : leading_variables(paths))
    if (!is_of_job(name) && !util::contains(of_jobs, name))
      variables[name] = state_dir + "/" + util::to_lower(name) + "/" + user;
  return variables;
}

} // namespace

std::string module_function(const std::string& state_dir) {
  const std::string lib = state_dir + "/lib/";
  // A script that traces its commands (set -x) shows its own, not those of this function.
  return fmt::format("() {{ {{ local - && set +x; }} 2> /dev/null; . {}common.sh && . {}module.sh && "
                     "hpcml_module \"$@\"; }}",
                     lib, lib);
}

std::vector<std::string> job_directory_variables(const Site& site) {
  std::vector<std::string> paths;
  for (const auto& type : site.node_types) paths.push_back(type.local_disk.value_or(""));
  auto names = leading_variables(paths);
  for (const auto& name : model::site_variables(site))
    if (is_of_job(name) && !model::is_common_variable(name)) util::add_once(names, name);
  return names;
}

std::vector<std::string> storage_directories(const Site& site, const std::string& state_dir,
                                             const std::string& user) {
  std::vector<std::string> directories;
  for (const auto& [name, directory] : storage_variables(site, state_dir, user))
    directories.push_back(directory);
  return directories;
}

std::map<std::string, std::string> make_login_variables(const Site& site, const std::string& state_dir,
                                                        const std::string& user) {
  auto variables = storage_variables(site, state_dir, user);
  variables["BASH_FUNC_module%%"] = module_function(state_dir);
  variables["BASH_FUNC_ml%%"] = "() { module load \"$@\"; }";
  return variables;
}

std::string make_login_profile(const Site& site, const std::string& state_dir, const std::string& user) {
  auto text = util::replace_all(std::string(stand_in_text("login_profile.sh")), "@STATE_DIR@", state_dir);
  text = util::replace_all(text, "@PROGRAM_DIRECTORY@",
                           util::shell_quote(util::own_executable().parent_path().string()));
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
