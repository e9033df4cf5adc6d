// SPDX-License-Identifier: MIT
// Lines in the log of a job that hpcml reads: those of srun and slurmstepd, and those that hpcml itself
// writes, whose texts are here, next to their readers. Pure.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/retry_classes.hpp"

namespace hpcml::failures {

inline constexpr std::string_view k_srun_error = "srun: error: ";
inline constexpr std::string_view k_task_exited = "Exited with exit code";
inline constexpr std::string_view k_task_out_of_memory = "Out Of Memory";

/// A signal in the words of srun and of shells (strsignal).
struct SignalLogText {
  std::string_view text;
  int number;
};
inline constexpr SignalLogText k_signal_texts[] = {{"Segmentation fault", SIGSEGV},
                                                   {"Aborted", SIGABRT},
                                                   {"Bus error", SIGBUS},
                                                   {"Floating point exception", SIGFPE},
                                                   {"Illegal instruction", SIGILL},
                                                   {"Bad system call", SIGSYS},
                                                   {"Trace/breakpoint trap", SIGTRAP},
                                                   {"Killed", SIGKILL},
                                                   {"Terminated", SIGTERM}};

/// How tasks ended that ended at once and in the same way.
struct TaskEnd {
  std::string_view node;      ///< "nid000012"
  std::string_view tasks;     ///< "3", "2-3"
  std::string_view how;       ///< "Exited with exit code 7", "Segmentation fault (core dumped)"
  std::optional<int> code;    ///< 1 to 255: its exit code, or 128 + signal; nothing if srun reports neither
  bool has_exited = false;    ///< by itself, with that code
  bool out_of_memory = false; ///< the kernel killed a process of it
};

/// Parses a line that begins with srun's words: "srun: error: nid000012: tasks 2-3: Exited with exit code
/// 7".
std::optional<TaskEnd> parse_task_end(std::string_view line);

/// True if the line reports that tasks of a step, or a job, are being stopped.
bool reports_stop(std::string_view line);

inline constexpr std::string_view k_no_heartbeat = "no heartbeat from";
inline constexpr std::string_view k_world_of_one = "a world of 1 although WORLD_SIZE is";
inline constexpr std::string_view k_train_alone = "those that train do so alone";

/// Returns the last message of a run that failed.
std::string describe_run_end(int code, model::FailureClass why);
/// Returns the class in a line with such a message, which may have a prefix (`srun --label`).
std::optional<model::FailureClass> parse_run_end(std::string_view line);

/// True if the line reports that programs set up worlds of 1.
bool reports_separate_worlds(std::string_view line);

} // namespace hpcml::failures
