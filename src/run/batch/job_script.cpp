// SPDX-License-Identifier: MIT
#include "run/batch/job_script.hpp"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "core/util/child.hpp"
#include "core/util/process.hpp"
#include "run/batch/node_files.hpp"
#include "run/batch/step_processes.hpp"

namespace hpcml::batch {

namespace {
constexpr std::chrono::seconds k_trap_limit(20); ///< for EXIT traps of the script
}

util::Status JobScript::start(const std::vector<std::string>& command, bool has_node_files,
                              std::size_t bad_nodes) {
  util::ChildOptions options;
  options.death_signal = SIGKILL; // Slurm ends the steps with this process: so must the script
  options.default_signals = {SIGTERM};
  options.mask = util::no_signals();
  x_has_node_files = has_node_files;
  x_bad_nodes = bad_nodes;
  TRY(auto script, util::ChildProcess::run(command, x_env, options));
  x_pid = script.release();
  return util::Success{};
}

void JobScript::signal(int number) const {
  if (x_pid > 0) ::kill(x_pid, number);
}

void JobScript::end() {
  if (x_pid == 0) return;
  const auto found = find_steps(read_processes(), ::getpid(), x_pid);
  for (const pid_t shell : found.shells) {
    ::kill(shell, SIGTERM);
    ::kill(shell, SIGCONT);
  }
  x_kill_at = Clock::now() + k_trap_limit;
}

void JobScript::kill_if_due(Clock::time_point now) {
  if (!x_kill_at || now < *x_kill_at) return;
  x_kill_at.reset();
  signal(SIGKILL);
}

std::optional<int> JobScript::take_exit_code() {
  int status = 0;
  if (x_pid == 0 || ::waitpid(x_pid, &status, WNOHANG) != x_pid) return std::nullopt;
  x_pid = 0;
  x_kill_at.reset();
  return util::exit_code_of_status(status);
}

/// Steps that still run may read them: Slurm ends these with the job.
void JobScript::remove_node_files(const std::string& node_launcher) {
  if (!x_has_node_files || x_pid > 0) return;
  if (const auto found = find_steps(read_processes(), ::getpid(), 0); !found.steps.empty()) return;
  x_has_node_files = false;
  remove_stage(node_launcher, x_env);
}

} // namespace hpcml::batch
