// SPDX-License-Identifier: MIT
// Port 22 of the nodes, for tools that speak SSH themselves: this machine's sshd, with keys of this rehearsal
// alone, which lets the user in where he has a job and makes each session a step of it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "emulate/cluster_layout.hpp"
#include "emulate/sandbox.hpp"
#include "emulate/stand_in_files.hpp"

namespace hpcml::emulate {

/// What it is made of, and for whom.
struct SshAccess {
  std::string sshd;        ///< its path
  std::string sftp_server; ///< empty: this machine has none, and no files are copied
  std::string user;
  unsigned uid = 0;
  std::string home;
  std::string shell; ///< of his sessions
  std::string path;  ///< their PATH
};

/// The programs of this machine; nothing where it has no sshd.
std::optional<SshAccess> find_ssh(const util::EnvSnapshot& env);

/// File name (below the state directory) to content. `passwd` and `group` are the machine's files of that
/// name.
std::map<std::string, StandInFile> make_ssh_files(const SshAccess& access, const ClusterLayout& layout,
                                                  const std::string& state_dir, const std::string& passwd,
                                                  const std::string& group);

/// What waits for connections on each node.
InetdService make_ssh_service(const std::string& state_dir);

/// Writes the files, shows ssh's clients where keys and known hosts are, and starts to make these; the
/// process that does. Slurm can start meanwhile.
util::Result<pid_t> begin_ssh(Sandbox& sandbox, const SshAccess& access, const ClusterLayout& layout);
/// Waits for that process; an error carries what it said.
util::Status finish_ssh(const Sandbox& sandbox, pid_t keys);

/// Variables that lead tools to the user's key: its agent, and its file.
std::map<std::string, std::string> ssh_variables(const std::string& state_dir);

} // namespace hpcml::emulate
