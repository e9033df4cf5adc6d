// SPDX-License-Identifier: MIT
#include "run/batch/step_processes.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/process_stat.hpp"
#include "core/util/text.hpp"

namespace hpcml::batch {

namespace {

constexpr std::string_view k_step_program = "srun";

std::string executable_of(const std::string& directory) {
  std::array<char, 4096> path{};
  const auto size = ::readlink((directory + "/exe").c_str(), path.data(), path.size());
  if (size <= 0) return {};
  const std::string text(path.data(), static_cast<std::size_t>(size));
  auto name = text.substr(text.rfind('/') + 1);
  constexpr std::string_view k_deleted = " (deleted)"; // Slurm was updated meanwhile
  if (name.ends_with(k_deleted)) name.resize(name.size() - k_deleted.size());
  return name;
}

/// False if the process has ended, or its stat cannot be read.
bool read_entry(pid_t pid, ProcessEntry& entry) {
  auto stat = util::read_process_stat(pid);
  if (!stat) return false;
  entry.pid = pid;
  entry.state = stat->state;
  entry.parent = static_cast<pid_t>(stat->parent);
  entry.status = stat->status;
  // A process that is about to become a zombie has no executable any more.
  entry.program = stat->has_ended() ? std::string() : executable_of("/proc/" + std::to_string(pid));
  if (entry.program.empty()) entry.program = std::move(stat->name);
  return true;
}

} // namespace

std::vector<ProcessEntry> read_processes() {
  std::vector<ProcessEntry> processes;
  for (const auto& name : util::list_directory("/proc")) {
    const auto pid = util::parse_unsigned(name);
    ProcessEntry entry;
    if (pid && read_entry(static_cast<pid_t>(*pid), entry)) processes.push_back(std::move(entry));
  }
  return processes;
}

namespace {

using Chain = std::vector<const ProcessEntry*>;

bool has_ended(const ProcessEntry& process) { return process.state == 'Z' || process.state == 'X'; }

/// The processes between `process` and `top`, from below; nothing if it does not descend from `top`.
std::optional<Chain> chain_to(const ProcessEntry& process, pid_t top,
                              const std::map<pid_t, const ProcessEntry*>& by_pid) {
  Chain chain;
  auto parent = process.parent;
  while (parent != top) {
    const auto found = by_pid.find(parent);
    if (found == by_pid.end() || chain.size() > by_pid.size()) return std::nullopt;
    chain.push_back(found->second);
    parent = found->second->parent;
  }
  return chain;
}

/// srun forks a process that watches it: that is not signalled.
bool is_below_step(const Chain& chain) {
  return std::any_of(chain.begin(), chain.end(), [](const ProcessEntry* entry) {
    return entry->program == k_step_program && !has_ended(*entry);
  });
}

} // namespace

StepProcesses find_steps(const std::vector<ProcessEntry>& processes, pid_t self, pid_t script) {
  std::map<pid_t, const ProcessEntry*> by_pid;
  for (const auto& process : processes) by_pid[process.pid] = &process;
  StepProcesses found;
  std::set<pid_t> shells;
  if (by_pid.count(script) == 1) shells.insert(script);
  for (const auto& process : processes) {
    if (process.program != k_step_program) continue;
    const auto chain = chain_to(process, self, by_pid);
    if (!chain || is_below_step(*chain)) continue;
    // Also of a step that has ended: a shell that is stopped does not wait for it.
    for (const auto* entry : *chain)
      if (!has_ended(*entry)) shells.insert(entry->pid);
    if (has_ended(process))
      found.exit_code = std::max(found.exit_code.value_or(0), util::exit_code_of_status(process.status));
    else
      found.steps.push_back(process.pid);
  }
  found.shells.assign(shells.begin(), shells.end());
  return found;
}

void stop_processes(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes) ::kill(pid, SIGSTOP);
  const auto runs = [](pid_t pid) {
    ProcessEntry entry;
    return read_entry(pid, entry) && entry.state != 'T' && !has_ended(entry);
  };
  for (int count = 0; count < 200 && std::any_of(processes.begin(), processes.end(), runs); ++count)
    ::usleep(5000);
}

bool is_tracked_by_cgroup(const std::string& cgroups) {
  for (const auto& line : util::split(cgroups, '\n')) {
    // "/slurm/uid_1000/job_7", "/system.slice/node1_slurmstepd.scope/job_7"
    const bool is_of_slurm =
        line.find("slurm") != std::string::npos && line.find("/job_") != std::string::npos;
    // Version 1 has a freezer per step only with proctrack/cgroup; version 2 has one hierarchy.
    if (is_of_slurm && (line.find(":freezer:") != std::string::npos || line.starts_with("0::"))) return true;
  }
  return false;
}

std::string read_cgroups() { return util::read_file("/proc/self/cgroup").value_or(""); }

} // namespace hpcml::batch
