// SPDX-License-Identifier: MIT
// State of a process and its descendants, as the kernel reports it: threads, and what each waits for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::agent {

struct ThreadState {
  std::int64_t tid = 0;
  std::string name = {};
  char state = '?';                            ///< as in /proc: R, S, D, Z, T, …
  std::string syscall = {};                    ///< empty: it is in none, or it may not be read
  std::string wait_channel = {};               ///< function of the kernel that it sleeps in; empty: none
  std::vector<std::string> kernel_frames = {}; ///< innermost first; only root may read them
};

struct ProcessState {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::string name = {};
  bool is_python = false;                ///< it runs Python, or has it as a library
  std::vector<ThreadState> threads = {}; ///< that which `pid` is the number of comes first
};

/// Of /proc/PID/task/TID/syscall, "202 0x7f… …"; empty for "running" and "-1 …".
std::string parse_syscall(std::string_view text);
/// Of /proc/PID/task/TID/stack: "[<0>] futex_do_wait+0x46/0x90".
std::vector<std::string> parse_kernel_stack(std::string_view text);

/// "sleeps in futex (futex_do_wait)", "waits for a device or a file system in read", "runs".
std::string render_state(const ThreadState& thread);

/// Which processes have which children. `proc` is what stands for "/proc".
std::multimap<std::int64_t, std::int64_t> read_children(const std::string& proc = "/proc");
/// The process and all below it, parents first; at most 64 processes of at most 512 threads each. Empty where
/// it is gone.
std::vector<ProcessState> read_process_tree(std::int64_t pid,
                                            const std::multimap<std::int64_t, std::int64_t>& children,
                                            const std::string& proc = "/proc");
/// Which of them is the rank's program, not a shell or another wrapper around it: the first that is Python,
/// else the end of a chain of processes that only wait for their one child.
std::size_t find_program_in_tree(const std::vector<ProcessState>& tree);

} // namespace hpcml::agent
