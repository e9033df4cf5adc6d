// SPDX-License-Identifier: MIT
#include "run/launch/script_store.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/util/host_names.hpp"
#include "core/util/process.hpp"
#include "run/launch/job_key.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/store_child.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/store/client.hpp"
#include "run/store/session_gate.hpp"

namespace hpcml::launch {

namespace {

constexpr int k_end_signals[] = {SIGTERM, SIGINT, SIGHUP};

int g_end_request = -1; ///< eventfd of the handler below

/// Async-signal-safe. True if process `pid` is Slurm's own process on this node.
bool is_slurm_step(pid_t pid) {
  constexpr char k_name[] = "slurmstepd";
  char path[32] = "/proc/", name[sizeof k_name] = {};
  char* const number = path + std::strlen(path);
  constexpr char k_file[] = "/comm";
  std::memcpy(std::to_chars(number, number + 16, pid).ptr, k_file, sizeof k_file);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const auto count = ::read(file, name, sizeof k_name - 1);
  ::close(file);
  return count == static_cast<ssize_t>(sizeof k_name - 1) && std::strcmp(name, k_name) == 0;
}

/// Slurm and the terminal signal all processes of a job, and the ranks need their store while they save. A
/// process that signals the store alone means the store. A sender in another namespace has the number 0.
void on_end_signal(int, siginfo_t* info, void*) {
  const int error = errno;
  const bool is_sent_by_process = info->si_code <= 0 && info->si_pid > 0;
  if (is_sent_by_process && !is_slurm_step(info->si_pid)) ::eventfd_write(g_end_request, 1);
  errno = error;
}

/// Becomes readable when a process other than Slurm's sends a signal to end. Other signals are ignored.
int end_requests() {
  g_end_request = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ignore_signals();
  struct sigaction action {};
  action.sa_sigaction = on_end_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : k_end_signals) ::sigaction(signal, &action, nullptr);
  return g_end_request;
}

/// Becomes readable where the service is to end.
int end_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : k_end_signals) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Where the ranks find this node: its name, or, where that does not resolve, a number that others can reach.
struct ServedName {
  std::string text;
  std::vector<std::string> addresses;
};

ServedName find_served_name(const ScriptStoreRequest& options, const util::EnvSnapshot& env) {
  ServedName found{options.name, options.addresses};
  if (options.name.empty() || !options.addresses.empty()) return found;
  found.addresses =
      serving_addresses({options.name, env.get_or("SLURMD_NODENAME", ""), util::read_host_name()});
  if (!addresses_of(options.name).empty()) return found;
  for (const auto& address : local_addresses())
    if (!util::is_loopback_address(address)) {
      found.text = address;
      break;
    }
  return found;
}

/// The ports to try: a store with a name is found by a job's ranks at one of theirs, never at the first,
/// which is rank 0's program's where that serves.
std::vector<std::uint16_t> ports_for_script(const ScriptStoreRequest& options,
                                            const slurm::StepIdentity& identity) {
  if (options.port != 0 || options.name.empty()) return {options.port};
  auto ports = rendezvous_ports(step_port({identity.job, 0, identity.restart}));
  ports.erase(ports.begin());
  ports.push_back(0);
  return ports;
}

} // namespace

util::Status serve_for_script(const ScriptStoreRequest& options, const util::EnvSnapshot& env,
                              const std::function<void(const std::string&)>& ready,
                              const store::RendezvousService::MessageSink& report) {
  const pid_t parent = ::getppid(); // before anything that takes time: it may be 1, and alive
  const auto identity = slurm::read_step_identity(env);
  const auto name = find_served_name(options, env);
  TRY(const auto channel, find_job_channel(env, identity, false));
  if (!channel.is_shared && !options.name.empty())
    report(fmt::format(
        "ranks of hpcml launch cannot use this rendezvous store, because it has no key: {}\nhint: set "
        "HPCML_JOB_SECRET to the output of 'hpcml internal job-secret' before its start",
        channel.origin));
  const auto job = rendezvous_job(identity);
  store::RendezvousService rendezvous({job, "", options.warn_after}, report);
  store::SessionGate gate({channel.key, job}, rendezvous, report);
  TRY(const auto server, store::make_server(name.addresses, ports_for_script(options, identity), {}, gate));
  rendezvous.set_port(server->port());
  gate.set_port(server->port());
  int stop = -1;
  if (options.with_parent) {
    stop = end_requests();
    if (!util::end_with(parent)) return util::Success{};
  } else {
    stop = end_signals();
  }
  ready(name.text.empty() ? std::to_string(server->port()) : store::place_text(name.text, server->port()));
  auto ended = server->run(stop);
  if (stop >= 0) ::close(stop);
  return ended;
}

} // namespace hpcml::launch
