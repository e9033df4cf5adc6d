// SPDX-License-Identifier: MIT
// The whole live node: what read_live_cpus and read_live_gpus omit because a launcher can do without.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

#include "core/topo/live_files.hpp"
#include "core/topo/live_node.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

namespace fs = std::filesystem;
using model::IdSet;

constexpr unsigned long long k_xgmi = 11; // the kernel's CRAT_IOLINK_TYPE_XGMI

IdSet read_set(const fs::path& path) { return IdSet::parse_list(read_line(path)).value_or({}); }

/// "Name: value" lines, by name.
std::map<std::string, std::string> read_fields(const fs::path& path) {
  std::map<std::string, std::string> fields;
  const auto text = util::read_file(path);
  for (const auto& line : util::split(text ? *text : std::string(), '\n'))
    if (const std::size_t colon = line.find(':'); colon != std::string::npos)
      fields[std::string(util::trim(line.substr(0, colon)))] = util::trim(line.substr(colon + 1));
  return fields;
}

/// MIG instances of a GPU: pairs of GPU instance and compute instance.
std::set<std::pair<unsigned long long, unsigned long long>> mig_instances(const fs::path& root,
                                                                          const std::string& minor) {
  std::set<std::pair<unsigned long long, unsigned long long>> instances;
  const fs::path mig = root / "proc/driver/nvidia/capabilities" / ("gpu" + minor) / "mig";
  for (const auto& gi : entries(mig))
    for (const auto& ci : entries(mig / gi))
      if (const auto g = util::parse_unsigned(gi.substr(std::min<std::size_t>(2, gi.size()))),
          c = util::parse_unsigned(ci.substr(std::min<std::size_t>(2, ci.size())));
          g && c)
        instances.insert({*g, *c});
  return instances;
}

void add_nvidia(const fs::path& root, const Gpu& gpu, Node& node) {
  // The driver writes the directory's name as the bus is written: in upper or in lower case.
  std::map<std::string, std::string> fields;
  for (const auto& name : entries(root / "proc/driver/nvidia/gpus"))
    if (util::to_lower(name) == gpu.place.pci)
      fields = read_fields(root / "proc/driver/nvidia/gpus" / name / "information");
  Gpu own = gpu;
  own.name = fields["Model"];
  const auto parts = mig_instances(root, fields["Device Minor"]);
  // The driver's files do not state the instances' UUIDs.
  own.uuid = parts.empty() ? fields["GPU UUID"] : "";
  for (std::size_t part = 0; part < std::max<std::size_t>(1, parts.size()); ++part) {
    own.partition = static_cast<unsigned>(part);
    node.gpus.push_back(own);
  }
  if (!parts.empty())
    node.notes.push_back(fmt::format(
        "GPU {} is divided into {} MIG instances, shown without UUIDs; run nvidia-smi -L to list them",
        gpu.place.pci, parts.size()));
}

/// The UUID that HIP and amd-smi show, which part of the function a device is, and its XGMI links.
void complete_amd(const fs::path& root, Node& node) {
  const std::vector<KfdNode> devices = read_kfd_gpus(root);
  if (devices.size() != node.gpus.size()) return;
  std::map<unsigned long long, unsigned> index_of;
  std::map<std::string, unsigned> parts;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Gpu& gpu = node.gpus[i];
    index_of[devices[i].id] = gpu.place.index;
    gpu.partition = parts[gpu.place.pci]++;
    char uuid[32];
    if (const auto unique = devices[i].get("unique_id"); unique != 0) {
      std::snprintf(uuid, sizeof uuid, "GPU-%016llx", unique);
      gpu.uuid = uuid;
    }
  }
  for (const KfdNode& device : devices) {
    const fs::path links = device.directory / "io_links";
    for (const auto& name : entries(links)) {
      const KfdNode link{0, {}, read_properties(links / name / "properties")};
      const auto target = index_of.find(link.get("node_to"));
      if (link.get("type") != k_xgmi || target == index_of.end()) continue;
      const auto width = std::clamp(link.get("max_bandwidth"), 1ull, 4'000'000'000ull);
      node.links.push_back({index_of[device.id], target->second, static_cast<unsigned>(width)});
    }
  }
}

void add_gpus(const fs::path& root, Node& node) {
  const LiveGpus live = read_live_gpus(root);
  const bool nvidia = live.vendor == model::GpuVendor::nvidia;
  for (const model::GpuLocality& place : live.places) {
    Gpu gpu;
    gpu.place = place;
    gpu.path = pci_path(root, place.pci);
    // Firmware that reports no NUMA node often reports the CPUs.
    if (!place.numa) gpu.cpus = read_set(root / "sys/bus/pci/devices" / place.pci / "local_cpulist");
    if (gpu.cpus == node.cpus.all()) gpu.cpus = {};
    nvidia ? add_nvidia(root, gpu, node) : node.gpus.push_back(gpu);
  }
  for (std::size_t i = 0; i < node.gpus.size(); ++i) node.gpus[i].place.index = static_cast<unsigned>(i);
  if (!nvidia) complete_amd(root, node);
}

/// Slingshot's interfaces and verbs devices; plain Ethernet only where nothing else exists.
void add_nics(const fs::path& root, Node& node) {
  std::vector<Nic> fast, converged, plain;
  for (const auto& name : entries(root / "sys/class/infiniband")) {
    const fs::path entry = root / "sys/class/infiniband" / name;
    if (auto nic = read_nic(root, entry))
      (read_line(entry / "ports/1/link_layer") == "Ethernet" ? converged : fast).push_back(std::move(*nic));
  }
  for (const auto& name : entries(root / "sys/class/net")) {
    auto nic = read_nic(root, root / "sys/class/net" / name);
    if (!nic) {
      node.interfaces.push_back(name);
      continue;
    }
    std::error_code error;
    const fs::path driver = root / "sys/bus/pci/devices" / nic->pci / "driver";
    const bool slingshot = fs::read_symlink(driver, error).filename().string().starts_with("cxi");
    const auto same = [&](const Nic& known) { return known.pci == nic->pci; };
    if (slingshot)
      fast.push_back(std::move(*nic));
    else if (std::none_of(fast.begin(), fast.end(), same) &&
             std::none_of(converged.begin(), converged.end(), same))
      plain.push_back(std::move(*nic));
  }
  for (auto* kind : {&fast, &converged, &plain})
    for (Nic& nic : *kind) {
      nic.management = kind != &fast && (!fast.empty() || (kind == &plain && !converged.empty()));
      node.nics.push_back(std::move(nic));
    }
}

void add_memory(const fs::path& root, Node& node) {
  const fs::path nodes = root / "sys/devices/system/node";
  const IdSet online = read_set(nodes / "online"), memory = read_set(nodes / "has_memory");
  IdSet with_cpus;
  for (const auto& numa : node.cpus.numa) {
    with_cpus.add(numa.id);
    const bool bare = !memory.empty() && !memory.contains(numa.id);
    node.numa.push_back({numa.id, numa.cpus, bare ? NumaMemoryOwner::none : NumaMemoryOwner::cpu});
  }
  for (unsigned id : (online - with_cpus).ids()) node.numa.push_back({id, {}, NumaMemoryOwner::device});
}

} // namespace

util::Result<Node> read_live_node(const fs::path& root) {
  TRY(auto cpus, read_live_cpus(root));
  Node node;
  node.cpus = std::move(cpus);
  add_memory(root, node);
  add_gpus(root, node);
  add_nics(root, node);
  complete_node(node);
  return node;
}

} // namespace hpcml::topo
