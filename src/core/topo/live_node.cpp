// SPDX-License-Identifier: MIT
// CPUs of the live node.
#include "core/topo/live_node.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

namespace fs = std::filesystem;
using model::CpuDomain;
using model::IdSet;

std::optional<IdSet> read_list(const fs::path& path) {
  auto text = util::read_file(path);
  if (!text) return std::nullopt;
  auto set = IdSet::parse_list(util::trim(*text));
  return set ? std::optional<IdSet>(*set) : std::nullopt;
}

fs::path cpu_directory(const fs::path& cpus, unsigned cpu) { return cpus / ("cpu" + std::to_string(cpu)); }

/// The sets that a file of each CPU names, each read once: a CPU of a set that is known already is skipped.
std::vector<IdSet> read_partition(const fs::path& cpus, const IdSet& online,
                                  const std::vector<std::string>& names) {
  std::vector<IdSet> sets;
  IdSet seen;
  for (unsigned cpu : online.ids()) {
    if (seen.contains(cpu)) continue;
    std::optional<IdSet> set;
    for (const auto& name : names)
      if (!set) set = read_list(cpu_directory(cpus, cpu) / name);
    if (!set || !set->contains(cpu)) return {};
    sets.push_back(*set & online);
    seen = seen | sets.back();
  }
  return sets;
}

std::vector<CpuDomain> number_domains(const std::vector<IdSet>& sets) {
  std::vector<CpuDomain> domains;
  for (const auto& set : sets) domains.push_back({static_cast<unsigned>(domains.size()), set});
  return domains;
}

/// "cache/index3/shared_cpu_list" on x86; the index of level 3 differs elsewhere.
std::optional<std::string> find_l3_file(const fs::path& cpus, unsigned cpu) {
  for (unsigned index : {3u, 2u, 4u, 1u, 0u}) {
    const std::string directory = "cache/index" + std::to_string(index);
    const auto level = util::read_file(cpu_directory(cpus, cpu) / directory / "level");
    if (level && util::trim(*level) == "3") return directory + "/shared_cpu_list";
  }
  return std::nullopt;
}

std::vector<CpuDomain> read_numa(const fs::path& nodes, const IdSet& online) {
  std::vector<CpuDomain> numa;
  for (const auto& name : util::list_directory(nodes)) {
    if (!name.starts_with("node")) continue;
    const auto id = util::parse_unsigned(name.substr(4));
    const auto cpus = id ? read_list(nodes / name / "cpulist") : std::nullopt;
    if (cpus && cpus->intersects(online)) numa.push_back({static_cast<unsigned>(*id), *cpus & online});
  }
  std::sort(numa.begin(), numa.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return numa;
}

} // namespace

util::Result<model::CpuShape> read_live_cpus(const fs::path& root) {
  const fs::path cpus = root / "sys/devices/system/cpu";
  const auto online = read_list(cpus / "online");
  if (!online || online->empty())
    return util::Error{fmt::format("cannot read the node's CPUs: {} is missing or contains no list of CPUs",
                                   (cpus / "online").string()),
                       "check that /sys is mounted"};
  model::CpuShape shape;
  // The second name of each pair is the one of kernels before 5.4.
  shape.core_threads =
      read_partition(cpus, *online, {"topology/core_cpus_list", "topology/thread_siblings_list"});
  if (shape.core_threads.empty())
    for (unsigned cpu : online->ids()) shape.core_threads.push_back(IdSet::of({cpu}));
  shape.packages = number_domains(
      read_partition(cpus, *online, {"topology/package_cpus_list", "topology/core_siblings_list"}));
  if (const auto file = find_l3_file(cpus, online->first()))
    shape.l3 = number_domains(read_partition(cpus, *online, {*file}));
  shape.numa = read_numa(root / "sys/devices/system/node", *online);
  shape.sockets = static_cast<unsigned>(shape.packages.size());
  shape.cores = static_cast<unsigned>(shape.core_threads.size());
  for (const auto& core : shape.core_threads)
    shape.threads_per_core = std::max(shape.threads_per_core, static_cast<unsigned>(core.size()));
  return shape;
}

util::Result<IdSet> read_allowed_cpus() {
  // The kernel refuses a mask shorter than its own: grow until it fits.
  for (int count = 1024; count <= (1 << 16); count *= 2) {
    cpu_set_t* mask = CPU_ALLOC(count);
    if (!mask) break;
    const std::size_t size = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(size, mask);
    const bool read = sched_getaffinity(0, size, mask) == 0;
    const int reason = errno;
    IdSet allowed;
    for (int cpu = 0; read && cpu < count; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, mask)) allowed.add(static_cast<unsigned>(cpu));
    CPU_FREE(mask);
    if (read) return allowed;
    if (reason != EINVAL)
      return util::Error{
          fmt::format("cannot read which CPUs this process may use: {}", std::strerror(reason)),
          "check that the container or sandbox allows the system call sched_getaffinity"};
  }
  return util::Error{
      "cannot read which CPUs this process may use: the kernel has more than 65536 CPUs (limit)",
      "request support for such nodes from the developers of hpcml"};
}

} // namespace hpcml::topo
