// SPDX-License-Identifier: MIT
// The control group's CPUs and memory nodes: hwloc and container runtimes cut a node down to what these files
// say.
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/sysfs_tree.hpp"

namespace hpcml::emulate {

namespace {

bool has_word(const std::string& list, std::string_view word) {
  for (const auto& item : util::split(list, ','))
    if (item == word) return true;
  return false;
}

/// This process's control group in the hierarchy with cpusets ("cpuset"), or in the unified one ("").
std::string find_group(const std::string& groups, std::string_view controller) {
  for (const auto& line : util::split(groups, '\n')) {
    const auto parts = util::split(line, ':'); // ID:CONTROLLERS:PATH
    if (parts.size() < 3 || !has_word(parts[1], controller)) continue;
    const std::string path = line.substr(parts[0].size() + parts[1].size() + 2);
    return path == "/" ? std::string() : path;
  }
  return {};
}

} // namespace

util::Result<std::vector<GeneratedFileMount>> write_cpuset_view(const std::string& directory,
                                                                const model::CpuShape& cpu) {
  model::IdSet memory_nodes;
  for (const auto& domain : complete_shape(cpu).numa) memory_nodes.add(domain.id);
  const std::string cpus = directory + "/cpuset_cpus", mems = directory + "/cpuset_mems";
  TRY_DONE(util::write_file(cpus, cpu.all().to_list() + "\n"));
  TRY_DONE(util::write_file(mems, memory_nodes.to_list() + "\n"));

  const std::string groups = util::read_file("/proc/self/cgroup").value_or("");
  std::vector<GeneratedFileMount> views;
  for (const auto& line : util::split(util::read_file("/proc/self/mounts").value_or(""), '\n')) {
    const auto parts = util::split(line, ' '); // SOURCE TARGET TYPE OPTIONS 0 0
    if (parts.size() < 4) continue;
    const bool unified = parts[2] == "cgroup2";
    if (!unified && !(parts[2] == "cgroup" && has_word(parts[3], "cpuset"))) continue;
    const std::string group = parts[1] + find_group(groups, unified ? "" : "cpuset");
    for (const char* name : {"cpuset.cpus", "cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.mems",
                             "cpuset.mems.effective", "cpuset.effective_mems"}) {
      const std::string target = group + "/" + name;
      const bool is_cpus = std::string_view(name).find("mems") == std::string_view::npos;
      if (::access(target.c_str(), F_OK) == 0) views.push_back({is_cpus ? cpus : mems, target});
    }
  }
  return views;
}

} // namespace hpcml::emulate
