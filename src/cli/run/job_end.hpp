// SPDX-License-Identifier: MIT
// Why a job ended badly: which task failed first, from what srun says of its tasks in the log, and the class.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/retry_classes.hpp"

namespace hpcml::cli {

/// A task, or several that ended alike at once.
struct FailedTask {
  std::string tasks; ///< "1", "2-3"
  std::string node;
  std::string how; ///< "exited with code 3", "was terminated: Segmentation fault"
  int exit_code = 0;
  bool out_of_memory = false; ///< the kernel killed it for want of that
};

/// Reads a log as it grows. srun ends the other tasks when one has failed (--kill-on-bad-exit) and then
/// returns the highest code of all: that of the tasks that it ended itself, 143 or 137, hides that of the one
/// that failed; where one ran out of memory, 1 hides that.
class FailedTaskSearch {
public:
  void read(std::string_view text);
  /// The first task that failed by itself; where one ran out of memory, that, for it is why others fail.
  /// Nothing where srun tells of none.
  const std::optional<FailedTask>& found() const { return x_found; }
  /// Why the last run ended badly, if `hpcml launch` reports it.
  const std::optional<model::FailureClass>& reported_class() const { return x_class; }
  /// True if hpcml has reported that programs set up worlds of 1.
  bool trained_separately() const { return x_separate_worlds; }

private:
  void read_line(std::string_view line);
  std::string x_rest;  ///< a line that has no end yet
  bool x_early = true; ///< srun has told of no task's end, and nobody ends the step
  std::optional<FailedTask> x_found;
  std::optional<model::FailureClass> x_class;
  bool x_separate_worlds = false;
};

/// Why a job ended badly. `of_slurm`: as Slurm has written it down; where that is no more than the `code` of
/// a program, its log has more to say. Nothing where it ended well, whatever the log says of earlier starts.
std::optional<model::FailureClass> class_of_job(std::optional<model::FailureClass> of_slurm, int code,
                                                const FailedTaskSearch& log);

} // namespace hpcml::cli
