// SPDX-License-Identifier: MIT
#include "run/launch/save_request.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <sys/wait.h>
#include <vector>

#include "core/model/save_signal.hpp"
#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "core/util/signal_names.hpp"
#include "core/util/text.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/signal_reader.hpp"
#include "run/launch/signal_targets.hpp"
#include "run/launch/supervisor.hpp"

namespace hpcml::launch {

namespace {

/// How often a group without its first process is looked at, in milliseconds.
constexpr int k_look = 50;

/// Takes in what has ended; true once the rank itself has, with its status.
bool reap(System& system, pid_t rank, int& status) {
  bool ended = false;
  for (;;) {
    int child = 0;
    const pid_t pid = system.waitpid(-1, &child, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return ended;
    if (pid != rank) continue;
    status = child;
    ended = true;
  }
}

/// A variable that a process was started with.
std::optional<std::string> variable_of(System& system, pid_t pid, const std::string& name) {
  const auto text = system.read_file("/proc/" + std::to_string(pid) + "/environ");
  if (!text) return std::nullopt;
  for (const auto& entry : util::split(*text, '\0'))
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  return std::nullopt;
}

/// The other launchers of this step on this node, which have one parent, slurmstepd; with this process.
std::vector<pid_t> launchers_of_step(System& system, const ProcessTable& table, int save_signal) {
  std::vector<pid_t> launchers;
  const auto is_of_step = [&system](pid_t pid, const char* name) {
    const auto own = variable_of(system, system.getpid(), name);
    return own && variable_of(system, pid, name) == own;
  };
  for (const auto& process : table.read_handling(table.children(system.getppid()), save_signal))
    if (process.pid == system.getpid() || (process.is_launcher && is_of_step(process.pid, "SLURM_JOB_ID") &&
                                           is_of_step(process.pid, "SLURM_STEP_ID")))
      launchers.push_back(process.pid);
  return launchers;
}

/// Reports the node's ranks that the request does not reach, in one line of the launcher with the lowest pid.
void report_unhandled(System& system, const ProcessTable& table, int save_signal, const RankLocation& own) {
  const auto launchers = launchers_of_step(system, table, save_signal);
  if (launchers.empty() || *std::min_element(launchers.begin(), launchers.end()) != system.getpid()) return;
  std::vector<unsigned> ranks;
  for (const pid_t launcher : launchers) {
    const auto programs = table.children(launcher);
    const auto tree = table.trees(programs, save_signal);
    if (tree.empty() || !choose_targets(tree).empty()) continue;
    const auto rank =
        launcher == system.getpid()
            ? std::optional<unsigned long long>(own.rank)
            : util::parse_unsigned(variable_of(system, programs.front().pid, "RANK").value_or(""));
    if (rank && *rank < own.world_size) ranks.push_back(static_cast<unsigned>(*rank));
  }
  if (!ranks.empty())
    log_message(system, util::LogLevel::warning,
                describe_unhandled(ranks, own.world_size, own.host, save_signal));
}

void deliver_save_request(System& system, int save_signal, const RankLocation& rank) {
  const ProcessTable table(system);
  send_to_targets(system, choose_targets(table.trees(table.children(system.getpid()), save_signal)),
                  save_signal);
  report_unhandled(system, table, save_signal, rank);
}

/// Waits for the next signal, up to `limit` milliseconds; negative: without a limit. 0 if none came. By a
/// descriptor: what a thread waits for in sigwait is missing in its SigBlk, by which launchers recognise each
/// other.
int next_signal(System& system, const SignalReader& signals, int limit) {
  pollfd wait{signals.fd(), POLLIN, 0};
  return system.poll({&wait, 1}, limit) == 1 ? signals.next() : 0;
}

/// Passes signals on until the rank has ended. A shell may end of one before the program that it started,
/// which is saving then: so the whole group is waited for.
int hand_on(System& system, pid_t child, int save_signal, const RankLocation& rank,
            const SignalReader& signals) {
  int status = 0, passed = 0;
  const auto lives_on = [&] {
    return passed != 0 && util::exit_code_of_status(status) == 128 + passed && system.kill(-child, 0) == 0;
  };
  for (bool ended = false; !ended || lives_on();) {
    const int signal = next_signal(system, signals, ended ? k_look : -1);
    if (signal == 0 || signal == SIGCHLD) {
      ended = reap(system, child, status) || ended;
      continue;
    }
    const bool requests_save = is_save_request(signal, save_signal);
    if (signal != SIGCONT) passed = requests_save ? save_signal : signal;
    if (requests_save)
      deliver_save_request(system, save_signal, rank);
    else
      system.kill(-child, signal);
  }
  return status;
}

} // namespace

int number_of(const model::SaveSignal& signal) {
  for (const int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGHUP})
    if (util::signal_name(number) == "SIG" + signal.text()) return number;
  return 0;
}

bool is_forwarded_by_srun(int signal) { return signal == SIGUSR1 || signal == SIGUSR2; }

int find_save_signal(const util::EnvSnapshot& env) {
  const auto text = env.get_or(model::k_save_variable, "");
  const auto requested = model::SaveSignal::parse(text);
  return requested ? number_of(*requested) : 0;
}

bool is_save_request(int signal, int save_signal) {
  // hpcml internal batch sends USR2 through srun for a signal that srun does not forward.
  const bool replaces = signal == SIGUSR2 && save_signal != 0 && !is_forwarded_by_srun(save_signal);
  return signal == k_save_word_signal || replaces || (signal == save_signal && signal != SIGTERM);
}

void reset_save_signal(System& system, int signal) {
  if (signal == 0) return;
  system.set_action(signal, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  system.sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

int run_handing_on(System& system, int save_signal, const RankLocation& rank,
                   const std::function<int()>& program) {
  std::optional<int> ended;
  {
    const SignalReader signals(
        {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD, k_save_word_signal}, system);
    system.become_subreaper();
    util::ChildOptions options;
    options.group = util::ChildOptions::Group::own;
    options.death_signal = SIGKILL;
    options.mask = signals.mask_before();
    const pid_t child = signals.fd() < 0 ? -1 : system.fork(options, program);
    if (child > 0)
      ended = hand_on(system, child, save_signal, rank, signals);
    else
      log_message(
          system, util::LogLevel::warning,
          fmt::format(
              "{}: only the first process of the rank receives the save signal, because the process that "
              "forwards it cannot start: {}\nhint: check the limit of processes (ulimit -u) on this node",
              rank_label(rank), std::strerror(errno)));
  }
  if (!ended) return program(); // without the process that forwards the signal
  const int status = *ended;
  if (WIFSIGNALED(status)) end_by_signal(system, WTERMSIG(status));
  return util::exit_code_of_status(status);
}

} // namespace hpcml::launch
