// SPDX-License-Identifier: MIT
#include "emulate/slurm_install.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "core/slurm/version.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"

namespace hpcml::emulate {

namespace {

/// "23.11" of "23.11.4": what Slurm calls a release.
std::string release_of(const std::string& version) {
  const auto parts = util::split(version, '.');
  return parts.size() < 2 ? version : parts[0] + "." + parts[1];
}

/// The file of a plugin; empty where it does not exist.
std::string find_plugin(const std::string& name, const std::string& slurmctld) {
  namespace fs = std::filesystem;
  const fs::path prefix = fs::path(slurmctld).parent_path().parent_path();
  std::vector<fs::path> directories = {prefix / "lib/slurm", prefix / "lib64/slurm",
                                       prefix / "lib/slurm-wlm"};
  std::error_code error;
  for (const auto& directory : util::list_directory(prefix / "lib")) {
    directories.push_back(prefix / "lib" / directory / "slurm-wlm");
    directories.push_back(prefix / "lib" / directory / "slurm");
  }
  for (const auto& directory : directories)
    if (fs::exists(directory / name, error)) return (directory / name).string();
  return {};
}

using Wanted = std::vector<std::pair<const char*, std::string*>>;

/// Fills in the paths; the names of those that are not here.
std::vector<std::string> find_programs(const Wanted& wanted, const util::EnvSnapshot& env) {
  std::vector<std::string> missing;
  for (const auto& [name, path] : wanted) {
    if (const auto found = util::find_program(name, env))
      *path = *found;
    else
      missing.push_back(name);
  }
  return missing;
}

} // namespace

util::EnvSnapshot with_daemon_directories(const util::EnvSnapshot& env) {
  util::EnvSnapshot wide = env;
  wide.set("PATH", env.get_or("PATH", "/usr/bin:/bin") +
                       ":/usr/sbin:/sbin:/usr/local/sbin:/opt/slurm/sbin:/opt/slurm/bin");
  return wide;
}

std::string find_slurm_version(const std::string& text) {
  for (const auto& word : util::split(std::string(util::trim(text)), ' '))
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string::npos) return word;
  return {};
}

bool finds_its_library(std::string_view plugin, const std::string& library) {
  namespace fs = std::filesystem;
  bool opens = false, found = false;
  std::error_code error;
  for (std::size_t begin = 0, end = 0; begin < plugin.size(); begin = end + 1) {
    end = std::min(plugin.find('\0', begin), plugin.size());
    const auto word = plugin.substr(begin, end - begin);
    opens = opens || word == library;
    if (word.size() > 1 && word.front() == '/' && word.size() < 4096)
      found = found || fs::exists(fs::path(word) / library, error);
  }
  for (const char* directory : {"/usr/lib64", "/usr/local/lib", "/usr/lib"})
    found = found || fs::exists(fs::path(directory) / library, error);
  return !opens || found;
}

util::Result<SlurmInstall> find_slurm(const util::EnvSnapshot& env) {
  const auto wide = with_daemon_directories(env);
  SlurmInstall slurm;
  const auto missing = find_programs({{"slurmctld", &slurm.slurmctld},
                                      {"slurmd", &slurm.slurmd},
                                      {"srun", &slurm.srun},
                                      {"salloc", &slurm.salloc},
                                      {"sinfo", &slurm.sinfo}},
                                     wide);
  if (!missing.empty())
    return util::Error{fmt::format("hpcml emulate needs Slurm on this machine, but {} is not in PATH",
                                   util::join(missing, ", ")),
                       "run apt-get install slurm-wlm (Debian, Ubuntu); its daemons need not run"};
  const auto answer = util::run_process({slurm.slurmctld, "-V"}, wide, std::chrono::seconds(10));
  if (!answer) return util::with_context(answer.error(), "cannot determine the version of Slurm");
  slurm.version = find_slurm_version(answer->out);
  if (slurm.version.empty())
    return util::Error{fmt::format("cannot determine the version of Slurm: slurmctld -V printed '{}'",
                                   util::trim(answer->out)),
                       "use another Slurm: --slurm-version VERSION, or a PATH with another slurmctld"};
  slurm.has_lua = !find_plugin("job_submit_lua.so", slurm.slurmctld).empty();
  for (const std::string kind : {"pmi2", "pmix"}) {
    const auto plugin = find_plugin("mpi_" + kind + ".so", slurm.slurmctld);
    if (!plugin.empty() && finds_its_library(util::read_file(plugin).value_or(""), "lib" + kind + ".so"))
      slurm.mpi = kind;
  }
  return slurm;
}

util::Result<AccountingInstall> find_accounting(const util::EnvSnapshot& env) {
  AccountingInstall found;
  auto missing = find_programs(
      {{"slurmdbd", &found.slurmdbd}, {"sacctmgr", &found.sacctmgr}, {"mariadbd", &found.mariadbd}},
      with_daemon_directories(env));
  std::error_code ignored;
  const auto share = std::filesystem::path(found.mariadbd).parent_path().parent_path() / "share";
  for (const char* directory : {"mysql", "mariadb"})
    if (std::filesystem::exists(share / directory / "mysql_system_tables.sql", ignored))
      found.system_tables = share / directory / "mysql_system_tables.sql";
  if (!found.slurmdbd.empty() && find_plugin("accounting_storage_mysql.so", found.slurmdbd).empty())
    missing.push_back("accounting_storage_mysql.so (libmariadb-dev where this Slurm is built)");
  if (found.system_tables.empty() && !found.mariadbd.empty()) missing.push_back("mysql_system_tables.sql");
  if (missing.empty()) return found;
  return util::Error{
      fmt::format("accounts need Slurm's database daemon and MariaDB, but this machine lacks {}",
                  util::join(missing, ", ")),
      "run apt-get install --no-install-recommends slurmdbd mariadb-server-core (Debian, "
      "Ubuntu); their services need not run"};
}

bool wants_whole_sockets(const SlurmInstall& slurm) {
  const auto version = slurm::parse_version(slurm.version);
  return version && *version >= slurm::Version::v24_11;
}

std::string make_idle_cgroup_conf(const SlurmInstall& slurm) {
  const auto version = slurm::parse_version(slurm.version);
  if (!version || *version < slurm::Version::v21_08) return {}; // has no such choice
  // Before there was a word for it: the plugin for v1 does nothing until something is to be limited.
  return *version < slurm::Version::v24_05 ? "CgroupPlugin=cgroup/v1\n" : "CgroupPlugin=disabled\n";
}

std::string describe_version_difference(const std::string& installed, const std::string& site_name,
                                        const std::string& site_version) {
  if (site_version.empty())
    return fmt::format(
        "this machine has Slurm {}, and the version of {} is unknown: options and defaults may differ",
        installed, site_name);
  if (release_of(installed) == release_of(site_version)) return {};
  return fmt::format("this machine has Slurm {}, but {} runs {}: options and defaults that changed between "
                     "them behave as in {} here",
                     installed, site_name, site_version, release_of(installed));
}

} // namespace hpcml::emulate
