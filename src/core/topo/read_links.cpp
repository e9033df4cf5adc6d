// SPDX-License-Identifier: MIT
#include "core/topo/read_links.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

std::optional<unsigned> gpu_at(const std::vector<Gpu>& gpus, const std::string& address) {
  const std::string wanted = util::to_lower(address);
  for (const Gpu& gpu : gpus)
    if (gpu.place.pci == wanted) return gpu.place.index;
  return std::nullopt;
}

unsigned number(const std::string& text) {
  return static_cast<unsigned>(std::min(util::parse_unsigned(text).value_or(0), 4'000'000'000ull));
}

/// hwloc's numbers of the objects below a PCI function, with the function's address.
void collect_devices(const pugi::xml_node& object, const std::string& address,
                     std::map<std::string, std::string>& addresses) {
  const std::string& address_used =
      attribute_of(object, "type") == "PCIDev" ? attribute_of(object, "pci_busid") : address;
  if (attribute_of(object, "type") == "OSDev") addresses[attribute_of(object, "gp_index")] = address_used;
  for (const pugi::xml_node& child : object.children()) collect_devices(child, address_used, addresses);
}

std::vector<std::string> words_in(const pugi::xml_node& element, const char* name) {
  std::vector<std::string> words;
  for (const pugi::xml_node& child : element.children(name))
    for (const std::string& word : util::split(util::replace_all(child.child_value(), "\n", " "), ' '))
      if (!word.empty()) words.push_back(word);
  return words;
}

/// What a <gpu> says of its links: GPUs it reaches directly, and how wide it is at NVSwitches.
void read_ends(const pugi::xml_node& gpu, unsigned index, const std::vector<Gpu>& gpus,
               std::vector<GpuLink>& links, std::map<unsigned, unsigned>& switched) {
  for (const pugi::xml_node& link : gpu.children()) {
    if (!has_name(link, "nvlink") && !has_name(link, "xgmi")) continue;
    const unsigned count = std::max(1u, number(attribute_of(link, "count")));
    if (const auto target = gpu_at(gpus, attribute_of(link, "target")))
      links.push_back({index, *target, count});
    else if (attribute_of(link, "tclass").starts_with("0x0680"))
      switched[index] += count;
  }
}

void read_pci(const pugi::xml_node& element, const std::vector<Gpu>& gpus, std::vector<GpuLink>& links,
              std::map<unsigned, unsigned>& switched) {
  for (const pugi::xml_node& child : element.children()) {
    if (const auto index = gpu_at(gpus, attribute_of(element, "busid")); index && has_name(child, "gpu"))
      read_ends(child, *index, gpus, links, switched);
    read_pci(child, gpus, links, switched);
  }
}

} // namespace

std::vector<GpuLink> read_hwloc_links(const pugi::xml_node& topology, const std::vector<Gpu>& gpus) {
  std::map<std::string, std::string> addresses;
  std::vector<GpuLink> links;
  for (const pugi::xml_node& child : topology.children()) collect_devices(child, "", addresses);
  for (const pugi::xml_node& matrix : topology.children("distances2")) {
    const std::string name = attribute_of(matrix, "name");
    if (attribute_of(matrix, "type") != "OSDev" || attribute_of(matrix, "indexing") != "gp" ||
        (name != "NVLinkBandwidth" && name != "XGMIBandwidth"))
      continue;
    const auto objects = words_in(matrix, "indexes"), values = words_in(matrix, "u64values");
    if (values.size() != objects.size() * objects.size()) continue;
    for (std::size_t i = 0; i < objects.size(); ++i)
      for (std::size_t j = 0; j < objects.size(); ++j) {
        const auto first = gpu_at(gpus, addresses[objects[i]]), second = gpu_at(gpus, addresses[objects[j]]);
        const unsigned width = number(values[i * objects.size() + j]);
        if (first && second && i != j && width > 0) links.push_back({*first, *second, width});
      }
  }
  return links;
}

std::vector<GpuLink> read_nccl_links(const pugi::xml_node& system, const std::vector<Gpu>& gpus) {
  std::vector<GpuLink> links;
  std::map<unsigned, unsigned> switched;
  read_pci(system, gpus, links, switched);
  for (const auto& [first, width] : switched)
    for (const auto& [second, peer_gpu] : switched)
      if (first < second) links.push_back({first, second, std::min(width, peer_gpu)});
  return links;
}

} // namespace hpcml::topo
