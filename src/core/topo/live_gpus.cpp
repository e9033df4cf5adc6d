// SPDX-License-Identifier: MIT
// GPUs of the live node: NVIDIA by the driver's PCI devices, AMD by the kernel's compute topology.
#include <algorithm>
#include <cstdio>

#include "core/topo/live_files.hpp"
#include "core/topo/live_node.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {

namespace fs = std::filesystem;
using model::GpuLocality;

bool is_pci_address(const std::string& name) {
  return name.size() >= 12 && name[name.size() - 8] == ':' && name[name.size() - 5] == ':' &&
         name[name.size() - 2] == '.';
}

std::optional<unsigned> numa_of_pci(const fs::path& root, const std::string& pci) {
  auto text = util::read_file(root / "sys/bus/pci/devices" / pci / "numa_node");
  const auto id = text ? util::parse_unsigned(util::trim(*text)) : std::nullopt;
  return id ? std::optional<unsigned>(static_cast<unsigned>(*id)) : std::nullopt;
}

std::vector<std::string> entries(const fs::path& directory) {
  auto names = util::list_directory(directory);
  std::sort(names.begin(), names.end());
  return names;
}

std::map<std::string, unsigned long long> read_properties(const fs::path& path) {
  std::map<std::string, unsigned long long> properties;
  const auto text = util::read_file(path);
  if (!text) return properties;
  for (const auto& line : util::split(*text, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    if (const auto value = util::parse_unsigned(util::trim(line.substr(blank + 1))))
      properties[line.substr(0, blank)] = *value;
  }
  return properties;
}

unsigned long long KfdNode::get(const char* name) const {
  const auto found = properties.find(name);
  return found == properties.end() ? 0 : found->second;
}

std::vector<KfdNode> read_kfd_gpus(const fs::path& root) {
  const fs::path nodes = root / "sys/class/kfd/kfd/topology/nodes";
  std::vector<KfdNode> found;
  for (const auto& name : entries(nodes))
    if (const auto id = util::parse_unsigned(name)) found.push_back({*id, nodes / name, {}});
  std::sort(found.begin(), found.end(), [](const KfdNode& a, const KfdNode& b) { return a.id < b.id; });
  for (KfdNode& node : found) node.properties = read_properties(node.directory / "properties");
  const auto is_cpu = [](const KfdNode& node) { return node.get("simd_count") == 0; };
  found.erase(std::remove_if(found.begin(), found.end(), is_cpu), found.end());
  return found;
}

namespace {

GpuLocality place_at(const fs::path& root, std::size_t index, const std::string& pci) {
  GpuLocality place;
  place.index = static_cast<unsigned>(index);
  place.pci = pci;
  place.numa = numa_of_pci(root, pci);
  return place;
}

std::vector<GpuLocality> read_nvidia(const fs::path& root) {
  std::vector<std::string> addresses;
  // Containers often hide one of the two.
  for (const char* directory : {"proc/driver/nvidia/gpus", "sys/bus/pci/drivers/nvidia"}) {
    if (!addresses.empty()) break;
    for (const auto& name : entries(root / directory))
      if (is_pci_address(name)) addresses.push_back(util::to_lower(name));
  }
  std::sort(addresses.begin(), addresses.end());
  std::vector<GpuLocality> places;
  places.reserve(addresses.size());
  for (const auto& pci : addresses) places.push_back(place_at(root, places.size(), pci));
  return places;
}

std::vector<GpuLocality> read_amd(const fs::path& root) {
  std::vector<GpuLocality> places;
  for (const KfdNode& node : read_kfd_gpus(root)) {
    const auto location = node.get("location_id");
    char pci[32];
    std::snprintf(pci, sizeof pci, "%04llx:%02llx:%02llx.%llx", node.get("domain") & 0xffff,
                  location >> 8 & 0xff, location >> 3 & 0x1f, location & 7);
    places.push_back(place_at(root, places.size(), pci));
  }
  return places;
}

} // namespace

LiveGpus read_live_gpus(const fs::path& root) {
  if (auto places = read_nvidia(root); !places.empty()) return {model::GpuVendor::nvidia, std::move(places)};
  if (auto places = read_amd(root); !places.empty()) return {model::GpuVendor::amd, std::move(places)};
  return {};
}

} // namespace hpcml::topo
