// SPDX-License-Identifier: MIT
#include "topo/live_node.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "util/file.hpp"
#include "util/text.hpp"

namespace hpcml::topo {

using model::IdSet;

namespace {

std::optional<std::string> read_word(const std::string& path) {
  const auto text = util::read_file(path);
  if (!text) return std::nullopt;
  return std::string(util::trim(*text));
}

std::optional<IdSet> read_list(const std::string& path) {
  const auto text = read_word(path);
  if (!text || text->empty()) return std::nullopt;
  auto list = IdSet::parse_list(*text);
  return list ? std::optional(*list) : std::nullopt;
}

std::string cpu_path(const std::string& root, unsigned cpu) { return root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu); }

/// Adds the domain that `file` of `cpu` names, unless an earlier CPU of the same domain has.
void add_domain(std::vector<model::CpuDomain>& domains, const std::string& file, unsigned cpu, const IdSet& online) {
  if (std::any_of(domains.begin(), domains.end(), [&](const auto& domain) { return domain.cpus.contains(cpu); })) return;
  const auto cpus = read_list(file);
  if (cpus && cpus->contains(cpu)) domains.push_back({static_cast<unsigned>(domains.size()), *cpus & online});
}

void read_cores(const std::string& root, const IdSet& online, model::CpuShape& shape) {
  IdSet seen;
  for (const unsigned cpu : online.ids()) {
    add_domain(shape.packages, cpu_path(root, cpu) + "/topology/package_cpus_list", cpu, online);
    add_domain(shape.packages, cpu_path(root, cpu) + "/topology/core_siblings_list", cpu, online);
    add_domain(shape.l3, cpu_path(root, cpu) + "/cache/index3/shared_cpu_list", cpu, online);
    if (seen.contains(cpu)) continue;
    const auto siblings = read_list(cpu_path(root, cpu) + "/topology/thread_siblings_list");
    const IdSet core = siblings && siblings->contains(cpu) ? *siblings & online : IdSet::of({cpu});
    shape.core_threads.push_back(core);
    shape.threads_per_core = std::max(shape.threads_per_core, static_cast<unsigned>(core.size()));
    seen = seen | core;
  }
  shape.cores = static_cast<unsigned>(shape.core_threads.size());
  shape.sockets = static_cast<unsigned>(shape.packages.size());
}

void read_numa(const std::string& root, const IdSet& online, model::CpuShape& shape) {
  const std::string folder = root + "/sys/devices/system/node";
  const auto nodes = read_list(folder + "/online");
  if (!nodes) return;
  for (const unsigned node : nodes->ids()) {
    const auto cpus = read_list(folder + "/node" + std::to_string(node) + "/cpulist");
    // Nodes without CPUs are memory of GPUs or CXL cards.
    if (cpus && cpus->intersects(online)) shape.numa.push_back({node, *cpus & online});
  }
}

model::GpuPlace gpu_at(const std::string& root, const std::string& pci) {
  model::GpuPlace place;
  place.pci = pci;
  const auto node = read_word(root + "/sys/bus/pci/devices/" + pci + "/numa_node");
  if (const auto number = util::parse_unsigned(node.value_or("-1"))) place.numa = static_cast<unsigned>(*number);
  return place;
}

/// PCI address of a node of AMD's compute driver; nothing for a CPU.
std::optional<std::string> kfd_address(const std::string& folder) {
  const auto id = read_word(folder + "/gpu_id");
  if (!id || id->empty() || *id == "0") return std::nullopt;
  const auto properties = util::read_file(folder + "/properties");
  if (!properties) return std::nullopt;
  unsigned long long location = 0, domain = 0;
  for (const auto& line : util::split(*properties, '\n')) {
    const auto words = util::split(line, ' ');
    if (words.size() != 2) continue;
    if (words[0] == "location_id") location = util::parse_unsigned(words[1]).value_or(0);
    if (words[0] == "domain") domain = util::parse_unsigned(words[1]).value_or(0);
  }
  char address[32];
  std::snprintf(address, sizeof address, "%04llx:%02llx:%02llx.%llx", domain, location >> 8 & 255, location >> 3 & 31, location & 7);
  return address;
}

} // namespace

util::Result<model::CpuShape> read_live_cpus(const std::string& root) {
  const auto online = read_list(root + "/sys/devices/system/cpu/online");
  if (!online || online->empty())
    return util::Error{"cannot read which CPUs this node has (" + root + "/sys/devices/system/cpu/online)"};
  model::CpuShape shape;
  read_cores(root, *online, shape);
  read_numa(root, *online, shape);
  return shape;
}

std::vector<model::GpuPlace> read_live_gpus(const std::string& root) {
  std::vector<model::GpuPlace> places;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/proc/driver/nvidia/gpus", ignored))
    places.push_back(gpu_at(root, util::to_lower(entry.path().filename().string())));
  for (const auto& entry : std::filesystem::directory_iterator(root + "/sys/class/kfd/kfd/topology/nodes", ignored))
    if (const auto pci = kfd_address(entry.path().string())) places.push_back(gpu_at(root, *pci));
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.pci < b.pci; });
  for (std::size_t i = 0; i < places.size(); ++i) places[i].index = static_cast<unsigned>(i);
  return places;
}

} // namespace hpcml::topo
