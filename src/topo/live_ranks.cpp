// SPDX-License-Identifier: MIT
#include "topo/live_ranks.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <unistd.h>

#include "util/file.hpp"
#include "util/text.hpp"

namespace hpcml::topo {
namespace {

namespace fs = std::filesystem;
using model::IdSet;

struct Process {
  unsigned pid = 0;
  util::EnvSnapshot env;
};

std::vector<unsigned> numbers_in(const fs::path& folder) {
  std::vector<unsigned> numbers;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (const auto number = util::parse_unsigned(entry->path().filename().string()); number && *number > 0)
      numbers.push_back(static_cast<unsigned>(*number));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// Whether both know the variable and disagree.
bool differs(const util::EnvSnapshot& a, const util::EnvSnapshot& b, const char* name) {
  const auto mine = a.get(name), theirs = b.get(name);
  return mine && theirs && *mine != *theirs;
}

std::vector<Process> read_processes(const fs::path& proc, const util::EnvSnapshot& own) {
  std::vector<Process> processes;
  const std::string job = own.get_or("SLURM_JOB_ID", ""), step = own.get_or("SLURM_STEP_ID", "");
  for (unsigned pid : numbers_in(proc)) {
    if (pid == static_cast<unsigned>(::getpid())) continue;
    const auto text = util::read_file(proc / std::to_string(pid) / "environ");
    if (!text) continue; // somebody else's, or gone
    Process process{pid, {}};
    for (const std::string& entry : util::split(*text, '\0'))
      if (const std::size_t sign = entry.find('='); sign != std::string::npos) process.env.set(entry.substr(0, sign), entry.substr(sign + 1));
    if (!job.empty() && process.env.get_or("SLURM_JOB_ID", "") != job) continue;
    if (!step.empty() && process.env.get_or("SLURM_STEP_ID", "") == step && !process.env.get("LOCAL_RANK")) continue;
    if (differs(own, process.env, "SLURMD_NODENAME")) continue; // several nodes of one machine
    processes.push_back(std::move(process));
  }
  return processes;
}

std::optional<IdSet> read_cpus(const fs::path& status) {
  const auto text = util::read_file(status);
  if (!text) return std::nullopt;
  for (const std::string& line : util::split(*text, '\n'))
    if (util::starts_with(line, "Cpus_allowed_list:")) {
      const auto cpus = IdSet::parse_list(util::trim(line.substr(line.find(':') + 1)));
      return cpus ? std::optional(*cpus) : std::nullopt;
    }
  return std::nullopt;
}

void add_threads(const fs::path& folder, LiveRank& rank) {
  std::optional<IdSet> first;
  for (unsigned thread : numbers_in(folder / "task")) {
    const auto cpus = read_cpus(folder / "task" / std::to_string(thread) / "status");
    if (!cpus) continue;
    if (!first) first = rank.cpus.empty() ? *cpus : rank.cpus;
    if (!(*cpus == *first) && std::find(rank.others.begin(), rank.others.end(), *cpus) == rank.others.end())
      rank.others.push_back(*cpus);
    rank.cpus = rank.cpus | *cpus;
  }
}

void read_devices(const Process& process, LiveRank& rank) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
    if (const auto found = process.env.get(name); found && !found->empty()) {
      rank.sees_all = false;
      rank.devices = util::split(*found, ',');
      return;
    }
}

/// The policy of the first mapping, the program's own text, which is the process's: the whole file may take the kernel seconds.
std::optional<MemoryPolicy> read_policy(const fs::path& maps) {
  std::ifstream file(maps);
  std::string line;
  return std::getline(file, line) ? parse_numa_maps(line) : std::nullopt;
}

/// Ranks of one step by number.
struct StepRanks {
  bool named = false; ///< told by LOCAL_RANK
  std::map<unsigned, LiveRank> ranks;
};

/// The process as a rank of its step.
void add_process(const Process& process, const fs::path& folder, std::map<std::string, StepRanks>& steps) {
  const auto name = process.env.get("LOCAL_RANK");
  const auto step = process.env.get_or("SLURM_STEP_ID", "");
  const auto text = name ? name : step.empty() ? std::nullopt : process.env.get("SLURM_LOCALID"); // a batch script is no rank
  const auto number = text ? util::parse_unsigned(*text) : std::nullopt;
  if (!number || *number > 65535) return;
  StepRanks& found = steps[step];
  if (found.named && !name) return; // a launcher that has started the ranks
  if (!found.named && name) found = {true, {}};
  LiveRank& rank = found.ranks[static_cast<unsigned>(*number)];
  if (rank.pid == 0) {
    rank.local_rank = static_cast<unsigned>(*number);
    rank.pid = process.pid;
    rank.nic = only_nic(process.env);
    rank.memory = read_policy(folder / "numa_maps");
    read_devices(process, rank);
  }
  add_threads(folder, rank);
}

} // namespace

std::string only_nic(const util::EnvSnapshot& env) {
  for (const char* name : {"UCX_NET_DEVICES", "NCCL_IB_HCA"}) {
    auto text = env.get_or(name, "");
    if (util::starts_with(text, "=")) text.erase(0, 1);
    if (text.empty() || text == "all" || text.find_first_of(",^") != std::string::npos) continue;
    return text.substr(0, text.find(':'));
  }
  return {};
}

LiveRanks read_live_ranks(const util::EnvSnapshot& own, const fs::path& root) {
  const fs::path proc = root / "proc";
  std::map<std::string, StepRanks> steps;
  for (const Process& process : read_processes(proc, own)) add_process(process, proc / std::to_string(process.pid), steps);
  LiveRanks found;
  const auto chosen = std::max_element(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second.ranks.size() < b.second.ranks.size(); });
  if (chosen == steps.end()) return found;
  for (const auto& [step, others] : steps)
    if (step != chosen->first)
      found.notes.push_back("step " + (step.empty() ? "of none" : step) + " runs here, too (" + std::to_string(others.ranks.size()) + " ranks); judged is " +
                            (chosen->first.empty() ? "what runs outside steps" : "step " + chosen->first));
  for (auto& [number, rank] : chosen->second.ranks)
    if (!rank.cpus.empty()) found.ranks.push_back(std::move(rank));
  return found;
}

} // namespace hpcml::topo
