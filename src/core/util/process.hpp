// SPDX-License-Identifier: MIT
// Running another program without a shell.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::util {

/// How a program ended and what it printed.
struct ProcessOutput {
  int exit_code = 0; ///< 128 + signal if it was killed, as shells count
  std::string out;
  std::string err;
};

/// Part of run_process's error if the program exceeds its time limit. Callers detect a late answer by it.
inline constexpr std::string_view k_time_limit_exceeded = " exceeded its time limit of ";

/// A status of waitpid as shells count: the exit code, or 128 + signal.
int exit_code_of_status(int status);
/// Runs argv[0] (looked up in the PATH of `env`), waits, and returns what it printed. Never goes through a
/// shell. Fails when the program cannot be started, runs longer than `limit` or prints more than 128 MiB (it
/// is killed then, with what it started).
Result<ProcessOutput> run_process(const std::vector<std::string>& argv, const EnvSnapshot& env,
                                  std::optional<std::chrono::milliseconds> limit = std::nullopt,
                                  const std::string& input = {});
/// The first executable file called `name` in the PATH of `env`; `name` itself if it holds a slash and can be
/// executed.
std::optional<std::string> find_program(const std::string& name, const EnvSnapshot& env);
/// The same by `is_executable`, for other systems than this one.
std::optional<std::string> find_program(const std::string& name, const EnvSnapshot& env,
                                        const std::function<bool(const std::string&)>& is_executable);

/// From now on this process is killed when `parent`, which has started it, ends, however it does. False where
/// that has ended already.
bool end_with(pid_t parent);

/// Closes the descriptors `first` to `last` that are open; on kernels before 5.9 those below 4096. For a
/// forked child as well: it takes no lock and no memory.
void close_descriptors(unsigned first, unsigned last = ~0U);

/// The words as execve requires them, with a null pointer at the end; valid as long as `words` is neither
/// changed nor gone.
std::vector<char*> exec_pointers(std::vector<std::string>& words);

} // namespace hpcml::util
