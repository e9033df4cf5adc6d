// SPDX-License-Identifier: MIT
#include "run/launch/signal_targets.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <set>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "core/model/container_engine.hpp"
#include "core/model/id_set.hpp"
#include "core/util/signal_names.hpp"
#include "core/util/text.hpp"
#include "run/launch/save_request.hpp"

namespace hpcml::launch {

namespace {

std::string proc_path(pid_t pid, const char* file) { return "/proc/" + std::to_string(pid) + "/" + file; }

/// A line of /proc/PID/status without its key; empty if it has none.
std::string_view status_value(std::string_view status, std::string_view key) {
  for (std::size_t at = 0; at < status.size();) {
    const auto end = std::min(status.find('\n', at), status.size());
    const auto line = status.substr(at, end - at);
    if (line.starts_with(key)) return util::trim(line.substr(key.size()));
    at = end + 1;
  }
  return {};
}

bool has_signal(std::string_view status, std::string_view key, int signal) {
  const std::string text(status_value(status, key));
  const auto mask = std::strtoull(text.c_str(), nullptr, 16);
  return ((mask >> (signal - 1)) & 1U) != 0;
}

/// Whether a thread waits for the signal in sigwait or a relative. The kernel removes what a thread waits for
/// from its SigBlk meanwhile, so the set is read from the arguments of its system call.
bool waits_for_signal(System& system, const std::string& task, int signal) {
  const auto call = system.read_file(task + "/syscall");
  unsigned long long number = 0, address = 0;
  if (!call || std::sscanf(call->c_str(), "%llu %llx", &number, &address) != 2 ||
      number != SYS_rt_sigtimedwait)
    return false;
  const int memory = system.open(task + "/mem", O_RDONLY);
  if (memory < 0) return false;
  std::uint64_t waited = 0;
  const auto size = system.pread(memory, &waited, sizeof waited, static_cast<off_t>(address));
  system.close(memory);
  return size == sizeof waited && (waited >> (signal - 1) & 1) != 0;
}

/// Whether every thread of a process blocks the signal: one of them waits for it, or reads it from a
/// descriptor.
bool is_blocked_in_all_threads(System& system, pid_t pid, int signal) {
  bool any = false, all = true;
  for (const auto& thread : system.list_directory(proc_path(pid, "task"))) {
    const auto task = proc_path(pid, "task/") + thread;
    const auto status = system.read_file(task + "/status");
    if (!status) continue; // the thread has ended
    any = true;
    all = all && (has_signal(*status, "SigBlk:", signal) || waits_for_signal(system, task, signal));
  }
  return any && all;
}

/// Whether it is a running hpcml that takes the word to save.
bool is_own_launcher(System& system, pid_t pid, std::string_view status) {
  struct stat own {
  }, checked{};
  return has_signal(status, "SigBlk:", k_save_word_signal) &&
         system.stat(proc_path(system.getpid(), "exe"), own) == 0 &&
         system.stat(proc_path(pid, "exe"), checked) == 0 && own.st_dev == checked.st_dev &&
         own.st_ino == checked.st_ino;
}

/// What /proc/PID/stat contains: place in the tree, and where the program's code and stack begin, which the
/// kernel draws again at each exec.
bool read_stat(System& system, pid_t pid, ProcessSignalState& process) {
  const auto text = system.read_file(proc_path(pid, "stat"));
  if (!text) return false;
  // "12 (name) S 7 …": a name may hold anything, brackets too.
  const auto end = text->rfind(')');
  if (end == std::string::npos) return false;
  const auto fields = util::split(std::string(util::trim(text->substr(end + 1))), ' ');
  constexpr std::size_t k_parent = 1, k_group = 2, k_code = 23, k_stack = 25;
  if (fields.size() <= k_stack || fields[0] == "Z" || fields[0] == "X") return false;
  process.pid = pid;
  process.parent = static_cast<pid_t>(util::parse_unsigned(fields[k_parent]).value_or(0));
  process.group = static_cast<pid_t>(util::parse_unsigned(fields[k_group]).value_or(0));
  const auto code = util::parse_unsigned(fields[k_code]).value_or(0);
  // The kernel hides both (1 and 0) where this process may not look: then no process is a fork of it.
  process.image = code > 1 ? code * 31 + util::parse_unsigned(fields[k_stack]).value_or(0)
                           : static_cast<std::uint64_t>(pid);
  return true;
}

/// False where the process has ended.
bool read_status(System& system, ProcessSignalState& process, int signal) {
  const auto status = system.read_file(proc_path(process.pid, "status"));
  if (!status || status_value(*status, "State:").starts_with("Z")) return false;
  process.name = std::string(status_value(*status, "Name:"));
  process.is_launcher = is_own_launcher(system, process.pid, *status);
  process.handles =
      has_signal(*status, "SigCgt:", signal) || is_blocked_in_all_threads(system, process.pid, signal);
  return true;
}

/// Whether programs of this name pass on what they get to the program that they start.
bool passes_signals_on(const std::string& name) {
  return std::any_of(model::k_engines.begin(), model::k_engines.end(), [&](const model::EngineRow& row) {
    return row.starters.find(" " + name + " ") != std::string_view::npos;
  });
}

} // namespace

ProcessTable::ProcessTable(System& system) : x_system(system) {
  for (const auto& name : system.list_directory("/proc")) {
    const auto pid = util::parse_unsigned(name);
    ProcessSignalState process;
    if (pid && read_stat(system, static_cast<pid_t>(*pid), process))
      x_processes.push_back(std::move(process));
  }
}

std::vector<ProcessSignalState> ProcessTable::children(pid_t parent) const {
  std::vector<ProcessSignalState> found;
  for (const auto& process : x_processes)
    if (process.parent == parent) found.push_back(process);
  return found;
}

std::vector<ProcessSignalState> ProcessTable::read_handling(std::vector<ProcessSignalState> processes,
                                                            int signal) const {
  std::erase_if(processes,
                [&](ProcessSignalState& process) { return !read_status(x_system, process, signal); });
  return processes;
}

std::vector<ProcessSignalState> ProcessTable::trees(const std::vector<ProcessSignalState>& roots,
                                                    int signal) const {
  std::vector<ProcessSignalState> tree = roots;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto below = children(tree[i].pid);
    tree.insert(tree.end(), below.begin(), below.end());
  }
  return read_handling(std::move(tree), signal);
}

std::vector<SignalTarget> choose_targets(const std::vector<ProcessSignalState>& tree) {
  std::map<pid_t, const ProcessSignalState*> by_pid;
  std::set<pid_t> below_launcher;
  std::vector<const ProcessSignalState*> chosen;
  for (const auto& process : tree) {
    by_pid[process.pid] = &process;
    const auto found = by_pid.find(process.parent);
    const auto* parent = found == by_pid.end() ? nullptr : found->second;
    if (parent != nullptr && (parent->is_launcher || below_launcher.count(parent->pid) == 1)) {
      below_launcher.insert(process.pid);
      continue;
    }
    const bool is_fork = parent != nullptr && parent->handles && parent->image == process.image;
    if (process.is_launcher || (process.handles && !is_fork)) chosen.push_back(&process);
  }
  // A starter is omitted if the signal reaches a program below it: it would pass on a second one.
  std::set<pid_t> above_target;
  for (const auto* process : chosen)
    for (auto at = by_pid.find(process->parent); at != by_pid.end(); at = by_pid.find(at->second->parent))
      if (!above_target.insert(at->first).second) break;
  std::vector<SignalTarget> targets;
  for (const auto* process : chosen)
    if (!passes_signals_on(process->name) || above_target.count(process->pid) == 0)
      targets.push_back({process->pid, process->is_launcher});
  return targets;
}

void send_to_targets(System& system, const std::vector<SignalTarget>& targets, int save_signal) {
  for (const auto& target : targets)
    system.kill(target.pid, target.is_launcher ? k_save_word_signal : save_signal);
}

std::string describe_unhandled(const std::vector<unsigned>& ranks, unsigned world_size,
                               const std::string& host, int save_signal) {
  const bool single = ranks.size() == 1;
  if (single)
    return fmt::format(
        "rank {}/{} ({}) does not handle {} and cannot save: it is not signalled and runs until "
        "the time limit",
        ranks.front(), world_size, host, util::signal_name(save_signal));
  return fmt::format(
      "ranks {}/{} ({}) do not handle {} and cannot save: they are not signalled and run until "
      "the time limit",
      model::IdSet::of(ranks).to_list(), world_size, host, util::signal_name(save_signal));
}

} // namespace hpcml::launch
