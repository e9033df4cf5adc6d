// SPDX-License-Identifier: MIT
#include "core/topo/live_ranks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>
#include <unistd.h>

#include "core/topo/mask_text.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

namespace fs = std::filesystem;
using model::IdSet;

struct Process {
  unsigned pid = 0;
  util::EnvSnapshot env;
};

std::vector<unsigned> numbers_in(const fs::path& directory) {
  std::vector<unsigned> numbers;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
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
    if (!text) continue; // another user's, or gone
    Process process{pid, {}};
    for (const std::string& entry : util::split(*text, '\0'))
      if (const std::size_t sign = entry.find('='); sign != std::string::npos)
        process.env.set(entry.substr(0, sign), entry.substr(sign + 1));
    if (!job.empty() && process.env.get_or("SLURM_JOB_ID", "") != job) continue;
    if (!step.empty() && process.env.get_or("SLURM_STEP_ID", "") == step && !process.env.get("LOCAL_RANK"))
      continue;
    if (differs(own, process.env, "SLURMD_NODENAME")) continue; // several nodes of one machine
    processes.push_back(std::move(process));
  }
  return processes;
}

std::optional<IdSet> read_cpus(const fs::path& status) {
  const auto text = util::read_file(status);
  if (!text) return std::nullopt;
  for (const std::string& line : util::split(*text, '\n'))
    if (line.starts_with("Cpus_allowed_list:")) {
      const auto cpus = IdSet::parse_list(util::trim(line.substr(line.find(':') + 1)));
      return cpus ? std::optional(*cpus) : std::nullopt;
    }
  return std::nullopt;
}

void add_threads(const fs::path& directory, LiveRank& rank) {
  std::optional<IdSet> first;
  for (unsigned thread : numbers_in(directory / "task")) {
    const auto cpus = read_cpus(directory / "task" / std::to_string(thread) / "status");
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

/// The policy of the first mapping, the program's own text, which is the process's: the whole file may take
/// the kernel seconds.
std::optional<MemoryPolicy> read_policy(const fs::path& maps) {
  std::ifstream file(maps);
  std::string line;
  return std::getline(file, line) ? parse_numa_maps(line) : std::nullopt;
}

/// Ranks of one step by number.
struct StepRanks {
  bool named = false;    ///< has LOCAL_RANK
  util::EnvSnapshot env; ///< of the first process
  std::map<unsigned, LiveRank> ranks;
};

/// The process as a rank of its step.
void add_process(const Process& process, const fs::path& directory, std::map<std::string, StepRanks>& steps) {
  const auto name = process.env.get("LOCAL_RANK");
  const auto step = process.env.get_or("SLURM_STEP_ID", "");
  const auto text = name           ? name
                    : step.empty() ? std::nullopt
                                   : process.env.get("SLURM_LOCALID"); // a batch script is not a rank
  const auto number = text ? util::parse_unsigned(*text) : std::nullopt;
  if (!number || *number >= k_most_ranks) return;
  StepRanks& found = steps[step];
  if (found.named && !name) return; // a launcher that has started the ranks
  if (!found.named && name) found = {true, {}, {}};
  if (found.ranks.empty()) found.env = process.env;
  LiveRank& rank = found.ranks[static_cast<unsigned>(*number)];
  if (rank.pid == 0) {
    rank.local_rank = static_cast<unsigned>(*number);
    rank.pid = process.pid;
    rank.nic = only_nic(process.env);
    rank.memory = read_policy(directory / "numa_maps");
    read_devices(process, rank);
  }
  add_threads(directory, rank);
}

/// What a rank's variable shows it, by index of the node.
std::vector<unsigned> seen_gpus(const Node& node, const LiveRank& rank) {
  std::vector<unsigned> gpus;
  std::vector<std::string> uuids;
  for (const auto& gpu : node.gpus) {
    uuids.push_back(gpu.uuid);
    if (rank.sees_all) gpus.push_back(gpu.place.index);
  }
  const auto list = util::join(rank.devices, ",");
  for (unsigned i = 0; i < rank.devices.size(); ++i)
    if (const auto index = resolve_visible(list, i, uuids)) gpus.push_back(*index);
  return gpus;
}

/// The part of a list that all ranks see which is one rank's, as the planner deals it out.
std::vector<unsigned> part_of(const std::vector<unsigned>& list, std::size_t rank, std::size_t count,
                              std::size_t per_rank) {
  if (list.empty()) return {};
  const std::size_t part = per_rank > 0 ? per_rank : std::max<std::size_t>(1, list.size() / count);
  if (part * count > list.size()) return {list[rank * list.size() / count]};
  const auto first = list.begin() + static_cast<std::ptrdiff_t>(rank * part);
  return {first, first + static_cast<std::ptrdiff_t>(part)};
}

} // namespace

std::vector<std::vector<unsigned>> gpus_of_ranks(const Node& node, const std::vector<LiveRank>& ranks,
                                                 unsigned count, unsigned per_rank) {
  std::vector<std::vector<unsigned>> gpus(count);
  if (ranks.empty()) return gpus;
  std::vector<std::vector<unsigned>> seen;
  seen.reserve(ranks.size());
  for (const auto& rank : ranks) seen.push_back(seen_gpus(node, rank));
  const auto& list = seen.front();
  bool shared =
      std::all_of(seen.begin(), seen.end(), [&](const auto& shared_list) { return shared_list == list; });
  // The only one that is left of several: with all GPUs it sees what the others saw, with some it has its
  // own.
  if (ranks.size() == 1 && count > 1) shared = list.size() == node.gpus.size();
  if (shared) {
    for (unsigned rank = 0; rank < count; ++rank) gpus[rank] = part_of(list, rank, count, per_rank);
    return gpus;
  }
  std::vector<unsigned> free;
  for (const auto& gpu : node.gpus)
    if (std::none_of(seen.begin(), seen.end(), [&](const auto& own) {
          return std::find(own.begin(), own.end(), gpu.place.index) != own.end();
        }))
      free.push_back(gpu.place.index);
  std::vector<bool> runs(count, false);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].local_rank >= count) continue;
    gpus[ranks[i].local_rank] = seen[i];
    runs[ranks[i].local_rank] = true;
  }
  for (unsigned rank = 0; rank < count; ++rank)
    if (!runs[rank] && free.size() >= list.size()) {
      const auto end = free.begin() + static_cast<std::ptrdiff_t>(list.size());
      gpus[rank].assign(free.begin(), end);
      free.erase(free.begin(), end);
    }
  return gpus;
}

std::string only_nic(const util::EnvSnapshot& env) {
  for (const char* name : {"UCX_NET_DEVICES", "NCCL_IB_HCA"}) {
    auto text = env.get_or(name, "");
    if (text.starts_with("=")) text.erase(0, 1);
    if (text.empty() || text == "all" || text.find_first_of(",^") != std::string::npos) continue;
    return text.substr(0, text.find(':'));
  }
  return {};
}

LiveRanks read_live_ranks(const util::EnvSnapshot& own, const fs::path& root) {
  const fs::path proc = root / "proc";
  std::map<std::string, StepRanks> steps;
  for (const Process& process : read_processes(proc, own))
    add_process(process, proc / std::to_string(process.pid), steps);
  LiveRanks found;
  const auto chosen = std::max_element(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
    return a.second.ranks.size() < b.second.ranks.size();
  });
  if (chosen == steps.end()) return found;
  const auto origin = [](const std::string& step) {
    return step.empty() ? "outside steps" : "of step " + step;
  };
  for (const auto& [step, others] : steps)
    if (step != chosen->first)
      found.notes.push_back(
          fmt::format("only the ranks {} on this node are checked; run this again after they exit to check "
                      "{} {}",
                      origin(chosen->first), util::counted(others.ranks.size(), "rank"), origin(step)));
  found.env = chosen->second.env;
  for (auto& [number, rank] : chosen->second.ranks)
    if (!rank.cpus.empty()) found.ranks.push_back(std::move(rank));
  return found;
}

} // namespace hpcml::topo
