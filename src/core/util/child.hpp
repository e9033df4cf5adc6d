// SPDX-License-Identifier: MIT
// Starting other processes: what is set in them before their work begins, and waiting for their end.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::util {

/// In what a child differs from the process that starts it.
struct ChildOptions {
  enum class Group {
    inherited,
    own,     ///< its own process group
    session, ///< its own session, without a terminal
  };
  struct Descriptor {
    int number; ///< in the child
    int source; ///< in this process; k_null_device: /dev/null
  };
  static constexpr int k_null_device = -1;

  Group group = Group::inherited;
  /// The kernel sends it to the child when its parent ends; 0: none. The child of a parent that has already
  /// ended exits with 125.
  int death_signal = 0;
  std::vector<int> ignored_signals;
  std::vector<int> default_signals;    ///< those whose action is not inherited
  std::optional<sigset_t> mask;        ///< blocked signals; nothing: inherited
  std::vector<Descriptor> descriptors; ///< the others are inherited, unless they are closed by exec
  std::string directory;               ///< working directory; empty: inherited
  std::optional<cpu_set_t> cpus;       ///< affinity; nothing: inherited
  bool pipes_output = false;           ///< standard output goes to ChildProcess::output
  bool is_sibling = false;             ///< child of this process's parent, which waits for it
};

/// A signal mask that blocks nothing.
sigset_t no_signals();
/// The signals 1 to 31 except these.
std::vector<int> signals_except(const std::vector<int>& kept);

/// A process that this one has started, or none. Does not wait for it when it is destroyed.
class ChildProcess {
public:
  ChildProcess() = default;
  ~ChildProcess() { close_output(); }
  ChildProcess(ChildProcess&& source) noexcept;
  ChildProcess& operator=(ChildProcess&& source) noexcept;

  /// Runs `body` in a copy of this process, which exits with the code that it returns.
  static Result<ChildProcess> fork(const ChildOptions& options, const std::function<int()>& body);
  /// Runs argv[0], looked up in the PATH of `env`, without a shell. The child exits with 126 or 127 if it
  /// cannot be executed.
  static Result<ChildProcess> run(const std::vector<std::string>& argv, const EnvSnapshot& env,
                                  const ChildOptions& options = {});

  bool is_running() const { return x_pid > 0; } ///< false after its end was waited for
  pid_t pid() const { return x_pid; }           ///< -1 if it is not running
  int output() const { return x_output; }       ///< end of its pipe, to read; -1: none
  void close_output();

  /// Waits for the end. Returns the status as waitpid does.
  int wait();
  /// Waits for the end, but not longer than `limit`; nothing if it still runs.
  std::optional<int> wait_for(std::chrono::milliseconds limit);
  /// Kills it, with its process group if it has its own, and waits for the end.
  int kill();
  /// Leaves the process to the caller, who may wait for it.
  pid_t release();

private:
  pid_t x_pid = -1;
  int x_output = -1;
  bool x_has_group = false;
};

/// Runs `body` in a process of which this process is not the parent. Returns when it runs.
Status leave_process(const ChildOptions& options, const std::function<int()>& body);

} // namespace hpcml::util
