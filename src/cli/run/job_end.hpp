// SPDX-License-Identifier: MIT
// Why a job failed: which task failed first, as srun reports it in the log, and the class of the failure.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/retry_classes.hpp"

namespace hpcml::cli {

/// A task, or several that ended at once and in the same way.
struct FailedTask {
  std::string tasks; ///< "1", "2-3"
  std::string node;
  std::string how; ///< "exited with code 3", "was terminated: Segmentation fault"
  int exit_code = 0;
  bool out_of_memory = false; ///< the kernel killed it because the node or job was out of memory
};

/// Reads a log as it grows. When a task has failed, srun stops the others (--kill-on-bad-exit) and returns
/// the highest exit code: 143 or 137 of the stopped tasks hides that of the task that failed. If a task ran
/// out of memory, exit code 1 hides it.
class FailedTaskSearch {
public:
  void read(std::string_view text);
  /// Returns the first task that failed by itself, or the one that ran out of memory, because others fail as
  /// a consequence. Returns nothing if srun reports no such task.
  const std::optional<FailedTask>& found() const { return x_found; }
  /// Returns why the last run failed, if `hpcml launch` reports it.
  const std::optional<model::FailureClass>& reported_class() const { return x_class; }
  /// True if hpcml has reported that programs set up worlds of 1.
  bool trained_separately() const { return x_separate_worlds; }

private:
  void read_line(std::string_view line);
  std::string x_rest;  ///< a line that has no end yet
  bool x_early = true; ///< srun has not reported the end of a task, and the step is not being stopped
  std::optional<FailedTask> x_found;
  std::optional<model::FailureClass> x_class;
  bool x_separate_worlds = false;
};

/// Returns why a job failed. `of_slurm` is the class that Slurm recorded; if that is only the exit `code` of
/// a program, the log is more specific. Returns nothing after success, also if the log has earlier failures.
std::optional<model::FailureClass> class_of_job(std::optional<model::FailureClass> of_slurm, int code,
                                                const FailedTaskSearch& log);

} // namespace hpcml::cli
