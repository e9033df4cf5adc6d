// SPDX-License-Identifier: MIT
// Stacks as py-spy and gdb print them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::agent {

/// Of one thread: its functions, innermost first.
struct ThreadFrames {
  std::int64_t tid = 0;
  std::string name; ///< empty: the tool does not say it
  std::vector<std::string> frames;
};

/// Of `py-spy dump`: "main (train.py:12)".
std::vector<ThreadFrames> parse_py_spy(std::string_view text);
/// Of gdb's `thread apply all backtrace`, without addresses and arguments, which differ from rank to rank:
/// "poll (poll.c:29)".
std::vector<ThreadFrames> parse_gdb(std::string_view text);

enum class StackTool { py_spy, gdb };
/// "py-spy", "gdb".
std::string name_of(StackTool tool);
/// Whether it is in the PATH.
bool has_tool(StackTool tool, const util::EnvSnapshot& env);
/// Reads the stacks of a process, which continues afterwards. Fails if the tool is missing, lacks the
/// permission, or exceeds `limit`, after which it is killed.
util::Result<std::vector<ThreadFrames>>
read_frames(StackTool tool, std::int64_t pid, const util::EnvSnapshot& env, std::chrono::milliseconds limit);

} // namespace hpcml::agent
