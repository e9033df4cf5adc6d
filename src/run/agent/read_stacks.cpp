// SPDX-License-Identifier: MIT
#include "run/agent/read_stacks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/util/text.hpp"
#include "run/agent/process_states.hpp"
#include "run/agent/stack_tools.hpp"

namespace hpcml::agent {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// No process is waited for longer than that by py-spy, which takes some 20 ms.
constexpr milliseconds k_most_for_py_spy{5000};

ProcessStack stack_of(const ProcessState& process) {
  ProcessStack stack;
  stack.pid = process.pid;
  stack.name = process.name;
  for (const auto& thread : process.threads)
    stack.threads.push_back({thread.tid, thread.name, render_state(thread), thread.kernel_frames});
  return stack;
}

/// The tool's frames in place of the kernel's; threads that it does not know keep what they have.
void take_frames(ProcessStack& process, std::vector<ThreadFrames> threads, StackTool tool) {
  process.tool = name_of(tool);
  for (auto& found : threads) {
    auto thread = std::find_if(process.threads.begin(), process.threads.end(),
                               [&](const auto& known) { return known.tid == found.tid; });
    if (thread == process.threads.end())
      thread = process.threads.insert(thread, ThreadStack{found.tid, "", "", {}});
    // Python's own name says more than the kernel's.
    if (tool == StackTool::py_spy && !found.name.empty()) thread->name = found.name;
    thread->frames = std::move(found.frames);
  }
}

/// A process that is still to be looked at.
struct Look {
  RankStacks* rank;
  std::size_t process;
};

/// Looks at one after the other; each has an equal part of the time that is left.
void look_at_all(const std::vector<Look>& looks, StackTool tool, const util::EnvSnapshot& env,
                 Clock::time_point end) {
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    auto share = left / static_cast<long>(looks.size() - i);
    if (tool == StackTool::py_spy) share = std::min(left, k_most_for_py_spy);
    auto& rank = *looks[i].rank;
    auto& process = rank.processes[looks[i].process];
    if (share < milliseconds(1)) {
      util::add_once(rank.remarks, fmt::format("no stack trace: no time was left for {}", name_of(tool)));
      continue;
    }
    auto threads = read_frames(tool, process.pid, env, share);
    if (threads)
      take_frames(process, std::move(threads).value(), tool);
    else
      util::add_once(rank.remarks, threads.error().what);
  }
}

} // namespace

std::vector<RankStacks> read_stacks(const std::vector<StackReadTarget>& ranks, const util::EnvSnapshot& env,
                                    milliseconds limit, const std::string& proc) {
  const auto end = Clock::now() + limit;
  const auto children = read_children(proc);
  std::vector<RankStacks> stacks(ranks.size());
  std::vector<Look> programs, helpers;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto tree = read_process_tree(ranks[i].pid, children, proc);
    stacks[i].rank = ranks[i].rank;
    stacks[i].program = find_program_in_tree(tree);
    for (const auto& process : tree) {
      const auto at = stacks[i].processes.size();
      if (process.is_python) (at == stacks[i].program ? programs : helpers).push_back({&stacks[i], at});
      stacks[i].processes.push_back(stack_of(process));
    }
  }
  const bool py_spy = has_tool(StackTool::py_spy, env), gdb = has_tool(StackTool::gdb, env);
  if (py_spy) look_at_all(programs, StackTool::py_spy, env, end);
  std::vector<Look> rest;
  for (auto& rank : stacks)
    if (rank.program < rank.processes.size() && rank.processes[rank.program].tool.empty())
      rest.push_back({&rank, rank.program});
  if (gdb) look_at_all(rest, StackTool::gdb, env, end);
  if (py_spy) look_at_all(helpers, StackTool::py_spy, env, end);
  if (!py_spy && !gdb)
    for (auto& rank : stacks)
      rank.remarks.emplace_back(
          "no stack trace of this rank: neither py-spy nor gdb is in PATH (pip install py-spy)");
  return stacks;
}

} // namespace hpcml::agent
