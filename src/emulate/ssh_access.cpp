// SPDX-License-Identifier: MIT
#include "emulate/ssh_access.hpp"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "emulate/cluster_start.hpp"
#include "emulate/slurm_install.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;

/// What sshd sees in the place of the machine's directories, below the state directory.
const char* const k_system = "/ssh/system";
const char* const k_run = "/run";

const char* const k_keys_log = "/log/ssh_keys.log";

/// Every name and address by which a node or the login node is known, as a file of known hosts has them.
std::string host_names(const ClusterLayout& layout) {
  std::vector<std::string> names;
  for (const auto& line : util::split(render_hosts(layout), '\n')) {
    if (line.starts_with("127.") || line.starts_with("::1 ")) continue;
    for (const auto& word : util::split(line, ' '))
      if (!word.empty()) names.push_back(word);
  }
  return util::join(names, ",");
}

/// The file of users for sshd: the user goes first, and his account is neither locked nor without a shell.
/// The forced command runs under this shell: bash would read ~/.bashrc already there.
std::string user_line(const SshAccess& access) {
  const auto id = std::to_string(access.uid);
  return access.user + ":x:" + id + ":" + id + "::" + access.home + ":/bin/sh\n";
}

/// Without the group of terminals: where sshd is not a root, it could not give them one.
std::string without_terminals(const std::string& group) {
  std::string text;
  for (const auto& line : util::split(group, '\n'))
    if (!line.empty() && !line.starts_with("tty:")) text += line + "\n";
  return text;
}

/// StrictModes would refuse the keys, because the sandbox's directory is in /tmp; ~/.ssh/rc is of sessions
/// that are not steps.
constexpr const char* k_server_config = R"(HostKey @STATE_DIR@/ssh/host_key
AuthorizedKeysFile @STATE_DIR@/ssh/user_key.pub
AuthenticationMethods publickey
StrictModes no
PermitRootLogin yes
UsePAM no
UseDNS no
PidFile none
PrintMotd no
PrintLastLog no
PermitUserRC no
AcceptEnv SLURM_JOB_ID
ForceCommand @STATE_DIR@/lib/sshd_session
)";

/// By the caller's job a node with several knows which one a session is for.
constexpr const char* k_client_config = R"(Host *
  IdentityFile @STATE_DIR@/ssh/user_key
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  SendEnv SLURM_JOB_ID
)";

std::string make_settings(const SshAccess& access, const std::string& state_dir) {
  const auto quoted = [](const std::string& name, const std::string& value) {
    return name + "=" + util::shell_quote(value) + "\n";
  };
  return "# shellcheck shell=bash disable=SC2034\n" + quoted("hpcml_sshd", access.sshd) +
         quoted("hpcml_user", access.user) + "export " + quoted("SHELL", access.shell) + "export " +
         quoted("PATH", access.path) + "export " + quoted("SLURM_CONF", state_dir + "/slurm.conf");
}

} // namespace

std::optional<SshAccess> find_ssh(const util::EnvSnapshot& env) {
  SshAccess access;
  const auto sshd = util::find_program("sshd", with_daemon_directories(env));
  if (!sshd) return std::nullopt;
  access.sshd = *sshd;
  for (const auto* place : {"/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server",
                            "/usr/lib/ssh/sftp-server", "/usr/libexec/sftp-server"})
    if (access.sftp_server.empty() && ::access(place, X_OK) == 0) access.sftp_server = place;
  return access;
}

std::map<std::string, StandInFile> make_ssh_files(const SshAccess& access, const ClusterLayout& layout,
                                                  const std::string& state_dir, const std::string& passwd,
                                                  const std::string& group) {
  std::map<std::string, StandInFile> files;
  const auto placed = [&](std::string_view text) {
    return util::replace_all(std::string(text), "@STATE_DIR@", state_dir);
  };
  for (const std::string script : {"ssh_keys", "sshd_connection", "sshd_session"})
    files["lib/" + script] = {placed(stand_in_text(script + ".sh")), 0755};
  const auto add = [&](const std::string& name, const std::string& text) { files[name] = {text}; };
  add("lib/sshd_settings.sh", make_settings(access, state_dir));
  add("ssh/host_names", host_names(layout) + "\n");
  const auto copies = access.sftp_server.empty() ? "" : "Subsystem sftp " + access.sftp_server + "\n";
  add("ssh/sshd_config", placed(k_server_config) + copies);
  add("ssh/etc/ssh_config", placed(k_client_config));
  add("ssh/system/passwd", user_line(access) + passwd);
  add("ssh/system/shadow", access.user + ":*:1::::::\n");
  add("ssh/system/group", without_terminals(group));
  std::string profile = "# shellcheck shell=sh\n";
  for (const auto& [name, value] : ssh_variables(state_dir))
    profile += "export " + name + "=" + util::shell_quote(value) + "\n";
  add("profile.d/ssh.sh", profile);
  return files;
}

InetdService make_ssh_service(const std::string& state_dir) {
  InetdService service;
  service.port = 22;
  const auto system = state_dir + k_system;
  for (const auto* name : {"passwd", "shadow", "group"})
    service.mounts.push_back({system + "/" + name, std::string("/etc/") + name});
  // Where sessions are written down (utmp, wtmp, lastlog) and sshd has its empty directory, which Debian
  // makes when it starts its own.
  service.mounts.push_back({system + "/log", "/var/log"});
  if (state_dir.starts_with(k_run + std::string("/")))
    service.mounts.push_back({state_dir, system + state_dir});
  service.mounts.push_back({system + k_run, k_run});
  service.argv = {state_dir + "/lib/sshd_connection"};
  service.env = daemon_environment(state_dir);
  service.log_file = state_dir + "/log/sshd.out";
  return service;
}

util::Result<pid_t> begin_ssh(Sandbox& sandbox, const SshAccess& access, const ClusterLayout& layout) {
  const auto& state_dir = sandbox.state_dir();
  std::vector<std::string> directories = {state_dir + k_system + "/log",
                                          state_dir + k_system + k_run + "/sshd", state_dir + "/log",
                                          state_dir + "/ssh/etc"};
  if (state_dir.starts_with(k_run + std::string("/")))
    directories.push_back(state_dir + k_system + state_dir);
  for (const auto& directory : directories) {
    std::error_code error;
    fs::create_directories(directory, error);
    if (error)
      return util::Error{
          fmt::format("cannot create {} for sshd of the emulated nodes: {}", directory, error.message()),
          "check the free memory of this machine (free -h), which holds these files"};
  }
  TRY(const auto passwd, util::read_file("/etc/passwd"));
  TRY(const auto group, util::read_file("/etc/group"));
  for (const auto& [name, file] : make_ssh_files(access, layout, state_dir, passwd, group))
    TRY_DONE(util::write_file(fs::path(state_dir) / name, file.text, file.mode));
  if (std::error_code error; fs::is_directory("/etc/ssh", error))
    TRY_DONE(sandbox.mount_on_login({state_dir + "/ssh/etc", "/etc/ssh"}));
  return sandbox.start_service({state_dir + "/lib/ssh_keys"}, daemon_environment(state_dir),
                               state_dir + k_keys_log);
}

util::Status finish_ssh(const Sandbox& sandbox, pid_t keys) {
  constexpr auto k_longest = std::chrono::seconds(20);
  const auto end = std::chrono::steady_clock::now() + k_longest;
  const auto& state_dir = sandbox.state_dir();
  while (sandbox.is_alive(keys) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (std::error_code error; fs::exists(state_dir + "/ssh/ready", error)) return util::Success{};
  const auto log = util::read_file(state_dir + k_keys_log);
  return util::Error{
      fmt::format(
          "ssh-keygen, ssh-agent or ssh-add did not set up the keys of the emulated nodes in 20 s: {}",
          util::trim(log.value_or(""))),
      "check that ssh-keygen and ssh-agent run on this machine"};
}

std::map<std::string, std::string> ssh_variables(const std::string& state_dir) {
  return {{"SSH_AUTH_SOCK", state_dir + "/ssh/agent"}, {"HPCML_SSH_KEY", state_dir + "/ssh/user_key"}};
}

} // namespace hpcml::emulate
