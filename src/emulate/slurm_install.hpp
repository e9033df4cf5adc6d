// SPDX-License-Identifier: MIT
// The Slurm that is installed on this machine: where its programs are, its version, what it was built with.
#pragma once

#include <string>
#include <string_view>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::emulate {

/// Paths of its programs, and what it can do.
struct SlurmInstall {
  std::string slurmctld;
  std::string slurmd;
  std::string srun;
  std::string salloc;
  std::string sinfo;
  std::string version;      ///< "22.05.8"
  bool has_lua = false;     ///< the job_submit/lua plugin exists
  std::string mpi = "none"; ///< the --mpi of srun by which most MPI libraries connect: pmix, else pmi2
};

/// The programs that keep accounts, and the tables that a database begins with.
struct AccountingInstall {
  std::string slurmdbd;
  std::string sacctmgr;
  std::string mariadbd;
  std::string system_tables; ///< a file of SQL
};

/// The environment with the sbin directories at the end of its PATH, where users do not have them.
util::EnvSnapshot with_daemon_directories(const util::EnvSnapshot& env);

/// Looks in PATH and in the sbin directories; fails with what to install.
util::Result<SlurmInstall> find_slurm(const util::EnvSnapshot& env);

/// The same for accounts.
util::Result<AccountingInstall> find_accounting(const util::EnvSnapshot& env);

/// Whether a plugin, by its file's bytes, finds a library that it opens by this name: in a directory that it
/// names, or a usual one. True where it opens none of that name. Slurm's mpi/pmix opens libpmix.so, which
/// Debian has in libpmix-dev.
bool finds_its_library(std::string_view plugin, const std::string& library);

/// The version in the output of `slurmctld -V` ("slurm-wlm 22.05.8"); empty when there is none.
std::string find_slurm_version(const std::string& text);

/// Whether this Slurm refuses a node where the cores near a GPU are not whole sockets.
bool wants_whole_sockets(const SlurmInstall& slurm);

/// cgroup.conf of a Slurm that leaves control groups alone. Silently it has systemd make some where the
/// machine has cgroup v2, or does not start.
std::string make_idle_cgroup_conf(const SlurmInstall& slurm);

/// One sentence on how the installed Slurm relates to the site's; `site_version` empty: the profile does not
/// know it.
std::string describe_version_difference(const std::string& installed, const std::string& site_name,
                                        const std::string& site_version);

} // namespace hpcml::emulate
