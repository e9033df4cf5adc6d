// SPDX-License-Identifier: MIT
// The steps that a script has started: its srun processes, found in /proc.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace hpcml::batch {

/// A process as /proc/PID/stat describes it.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = 'R';    ///< 'Z': it has ended and its parent has not asked how
  int status = 0;      ///< of a zombie, as waitpid gives it; 0 if this user may not read it
  std::string program; ///< name of its executable; its own name if it ends or has ended
};

/// Reads /proc; processes that end meanwhile are omitted.
std::vector<ProcessEntry> read_processes();

struct StepProcesses {
  std::vector<pid_t> steps;  ///< running srun processes, without the helpers that srun forks
  std::vector<pid_t> shells; ///< processes above a step, and the script's main shell
  /// The worst exit code of the steps that have ended and were not waited for yet; nothing if there are none.
  std::optional<int> exit_code;
};

/// `self`: the batch process; `script`: the script's main shell, 0 if it has ended.
StepProcesses find_steps(const std::vector<ProcessEntry>& processes, pid_t self, pid_t script);

/// Stops processes, and waits until they have stopped, at most a second: a shell whose step ends before that
/// would take the step's exit code with it.
void stop_processes(const std::vector<pid_t>& processes);

/// True if the step's signals reach only the first process of each task: `cgroups` is /proc/self/cgroup of a
/// process whose step Slurm tracks by cgroups (proctrack/cgroup,
/// src/plugins/proctrack/cgroup/proctrack_cgroup.c).
bool is_tracked_by_cgroup(const std::string& cgroups);

/// /proc/self/cgroup; empty if it cannot be read.
std::string read_cgroups();

} // namespace hpcml::batch
