// SPDX-License-Identifier: MIT
#include "topo/live_ranks.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "util/file.hpp"
#include "util/text.hpp"

namespace hpcml::topo {
namespace {

namespace fs = std::filesystem;
using model::IdSet;

struct Process {
  unsigned pid = 0;
  std::map<std::string, std::string> env;
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

std::vector<Process> read_processes(const fs::path& proc, const std::string& job) {
  std::vector<Process> processes;
  for (unsigned pid : numbers_in(proc)) {
    const auto text = util::read_file(proc / std::to_string(pid) / "environ");
    if (!text) continue; // somebody else's, or gone
    Process process{pid, {}};
    for (const std::string& entry : util::split(*text, '\0'))
      if (const std::size_t sign = entry.find('='); sign != std::string::npos)
        process.env[entry.substr(0, sign)] = entry.substr(sign + 1);
    if (!job.empty() && process.env["SLURM_JOB_ID"] != job) continue;
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
    if (const auto found = process.env.find(name); found != process.env.end() && !found->second.empty()) {
      rank.sees_all = false;
      rank.devices = util::split(found->second, ',');
      return;
    }
}

} // namespace

std::vector<LiveRank> read_live_ranks(const std::string& job, const fs::path& root) {
  const fs::path proc = root / "proc";
  const std::vector<Process> processes = read_processes(proc, job);
  const bool named = std::any_of(processes.begin(), processes.end(),
                                 [](const Process& process) { return process.env.count("LOCAL_RANK") > 0; });
  std::map<unsigned, LiveRank> ranks;
  for (const Process& process : processes) {
    const auto found = process.env.find(named ? "LOCAL_RANK" : "SLURM_LOCALID");
    const auto number = found == process.env.end() ? std::nullopt : util::parse_unsigned(found->second);
    if (!number || *number > 65535) continue;
    LiveRank& rank = ranks[static_cast<unsigned>(*number)];
    if (rank.pid == 0) {
      rank.local_rank = static_cast<unsigned>(*number);
      rank.pid = process.pid;
      read_devices(process, rank);
    }
    add_threads(proc / std::to_string(process.pid), rank);
  }
  std::vector<LiveRank> found;
  for (auto& [number, rank] : ranks)
    if (!rank.cpus.empty()) found.push_back(std::move(rank));
  return found;
}

} // namespace hpcml::topo
