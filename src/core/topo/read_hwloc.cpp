// SPDX-License-Identifier: MIT
// hwloc's XML, versions 1 and 2, read without hwloc: see
// docs/development/decisions/0002-topologies-without-hwloc.md.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/topo/read_links.hpp"
#include "core/topo/read_node.hpp"
#include "core/topo/xml.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

using model::IdSet;

/// hwloc's numbers for the kinds of OS devices; 2.x and 1.x agree on them.
enum OsDevice : unsigned { k_gpu = 1, k_network = 2, k_openfabrics = 3, k_coprocessor = 5 };

/// An OS device below a PCI function.
struct Device {
  unsigned kind = 0;
  std::string name, backend;
};

/// A PCI function with what it offers, and where it hangs.
struct Function {
  std::string address;
  unsigned kind = 0;   // class, such as 0x0302
  unsigned vendor = 0; // PCI vendor
  std::vector<Device> devices;
  std::string uuid;
  IdSet cpus;
  bool under_l3 = false;
  std::vector<std::string> path;
};

class HwlocReader {
public:
  explicit HwlocReader(const XmlDocument& document) : x_document(document) {}

  util::Result<Node> read(const pugi::xml_node& topology) {
    Place top;
    for (const pugi::xml_node& child : topology.children("object")) read_object(child, top);
    if (x_findings.empty() && x_pus.empty()) x_findings.push_back("the topology file contains no CPU");
    if (!x_findings.empty()) return util::Error{util::join(x_findings, "\n")};
    finish_cpus();
    finish_numa();
    std::stable_sort(x_functions.begin(), x_functions.end(),
                     [](const Function& a, const Function& b) { return a.address < b.address; });
    for (const Function& function : x_functions) add_gpus(function);
    add_nics();
    x_node.links = read_hwloc_links(topology, x_node.gpus);
    complete_node(x_node);
    for (auto& finding : check_node(x_node)) x_findings.push_back(std::move(finding));
    if (!x_findings.empty()) return util::Error{util::join(x_findings, "\n")};
    return std::move(x_node);
  }

private:
  /// What an object inherits from those around it.
  struct Place {
    IdSet cpus;
    bool under_l3 = false;
    std::vector<std::string> path;
  };

  void report(const pugi::xml_node& object, const std::string& what) {
    x_findings.push_back(fmt::format("line {}: {}; run lstopo on the node to export a new file",
                                     x_document.line_of(object), what));
  }

  std::optional<unsigned> number(const pugi::xml_node& object, const char* name) {
    const auto value = util::parse_unsigned(attribute_of(object, name));
    return value && *value <= 65535 ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
  }

  /// "0x0000ffff,,0xff": hwloc omits empty groups; "0xf...f" stands for infinite sets, which no node has.
  std::optional<IdSet> mask(const pugi::xml_node& object) {
    const pugi::xml_attribute text = object.attribute("cpuset");
    if (!text) return std::nullopt;
    IdSet set;
    const auto groups = util::split(text.value(), ',');
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].empty()) continue;
      const auto group = IdSet::parse_mask(groups[i]);
      const std::size_t shift = (groups.size() - 1 - i) * 32;
      if (!group || groups[i].size() > 10 || shift > 65535 - 31) {
        report(object, fmt::format("a cpuset of the topology file has '{}', which is not part of a CPU mask",
                                   groups[i]));
        return std::nullopt;
      }
      for (unsigned bit : group->ids()) set.add(bit + static_cast<unsigned>(shift));
    }
    return set;
  }

  void read_object(const pugi::xml_node& object, Place place) {
    const std::string type = attribute_of(object, "type");
    if (type == "Bridge") {
      place.path.push_back(fmt::format("bridge {}", x_document.line_of(object)));
    } else if (type == "PCIDev") {
      return read_function(object, place);
    } else if (type != "OSDev" && type != "Misc") {
      if (const auto cpus = mask(object)) place.cpus = *cpus;
      place.under_l3 = type == "L3Cache" || (type == "Cache" && attribute_of(object, "depth") == "3") ||
                       (place.under_l3 && (type == "Core" || type == "PU"));
      read_normal(object, type, place);
    }
    if (type == "Machine" || x_node.name.empty())
      for (const pugi::xml_node& info : object.children("info"))
        if (attribute_of(info, "name") == "DMIProductName")
          x_node.name = std::string(util::trim(attribute_of(info, "value")));
    for (const pugi::xml_node& child : object.children("object")) read_object(child, place);
  }

  void read_normal(const pugi::xml_node& object, const std::string& type, const Place& place) {
    if (type == "PU") {
      const auto id = number(object, "os_index");
      if (!id) return report(object, "a PU of the topology file has no valid os_index");
      x_pus.add(*id);
    } else if (type == "Core") {
      x_node.cpus.core_threads.push_back(place.cpus);
    } else if (place.under_l3 && (type == "L3Cache" || type == "Cache")) {
      x_node.cpus.l3.push_back({0, place.cpus});
    } else if (type == "Package" || type == "Socket") {
      x_node.cpus.packages.push_back({0, place.cpus});
    } else if (type == "NUMANode") {
      const auto id = number(object, "os_index");
      if (!id) return report(object, "a NUMANode of the topology file has no valid os_index");
      const std::string subtype = attribute_of(object, "subtype");
      const bool device = place.cpus.empty() || subtype == "GPUMemory" || subtype == "MCDRAM";
      const std::string memory = attribute_of(object, "local_memory");
      const bool has_memory = !memory.empty() && memory != "0";
      x_has_memory = x_has_memory || has_memory;
      x_node.numa.push_back({*id, place.cpus, device ? NumaMemoryOwner::device : NumaMemoryOwner::cpu});
      x_bare.push_back(!has_memory);
    }
  }

  void read_function(const pugi::xml_node& object, const Place& place) {
    Function function;
    function.address = util::to_lower(attribute_of(object, "pci_busid"));
    function.cpus = place.cpus;
    function.under_l3 = place.under_l3;
    function.path = place.path;
    // "0302 [10de:1eb8 [10de:12a2]] a1"
    const std::string type = attribute_of(object, "pci_type");
    if (const auto kind = IdSet::parse_mask(type.substr(0, 4)); kind && type.size() >= 10) {
      function.kind = static_cast<unsigned>(std::strtoul(type.substr(0, 4).c_str(), nullptr, 16));
      function.vendor = static_cast<unsigned>(std::strtoul(type.substr(6, 4).c_str(), nullptr, 16));
    }
    for (const pugi::xml_node& child : object.children()) {
      if (attribute_of(child, "type") != "OSDev") continue;
      Device device{number(child, "osdev_type").value_or(0), attribute_of(child, "name"),
                    attribute_of(child, "subtype")};
      for (const pugi::xml_node& info : child.children()) {
        const std::string name = attribute_of(info, "name");
        if (name == "Backend" || (name == "CoProcType" && device.backend.empty()))
          device.backend = attribute_of(info, "value");
        if (name == "AMDUUID" || name == "NVIDIAUUID" || name == "LevelZeroUUID")
          function.uuid = attribute_of(info, "value");
      }
      function.devices.push_back(std::move(device));
    }
    x_functions.push_back(std::move(function));
  }

  static void number_by_cpu(std::vector<model::CpuDomain>& domains) {
    std::stable_sort(domains.begin(), domains.end(), [](const auto& a, const auto& b) {
      return !a.cpus.empty() && (b.cpus.empty() || a.cpus.first() < b.cpus.first());
    });
    for (std::size_t i = 0; i < domains.size(); ++i) domains[i].id = static_cast<unsigned>(i);
  }

  void finish_cpus() {
    model::CpuShape& shape = x_node.cpus;
    if (shape.core_threads.empty())
      for (unsigned cpu : x_pus.ids()) shape.core_threads.push_back(IdSet::of({cpu}));
    std::stable_sort(
        shape.core_threads.begin(), shape.core_threads.end(),
        [](const IdSet& a, const IdSet& b) { return !a.empty() && (b.empty() || a.first() < b.first()); });
    number_by_cpu(shape.l3);
    number_by_cpu(shape.packages);
  }

  void finish_numa() {
    for (std::size_t i = 0; i < x_node.numa.size(); ++i) {
      NumaNode& numa = x_node.numa[i];
      // Files of machines always have sizes; a node without one has no memory.
      if (x_has_memory && x_bare[i] && numa.kind == NumaMemoryOwner::cpu) numa.kind = NumaMemoryOwner::none;
      // Further memory at the same CPUs is a device's: only the first node is the CPUs' own.
      for (std::size_t j = 0; j < i; ++j)
        if (x_node.numa[j].cpus == numa.cpus && x_node.numa[j].kind == NumaMemoryOwner::cpu)
          numa.kind = NumaMemoryOwner::device;
      if (numa.kind == NumaMemoryOwner::device)
        numa.cpus = {};
      else
        x_node.cpus.numa.push_back({numa.id, numa.cpus});
    }
  }

  /// One GPU per device of the same backend: a function with several of them is partitioned. A display
  /// without a compute device is a GPU only where it can render (a BMC cannot).
  void add_gpus(const Function& function) {
    std::map<std::string, std::vector<const Device*>> backends;
    bool renders = false;
    std::string name;
    for (const Device& device : function.devices) {
      const bool drm = device.name.starts_with("renderD") || device.name.starts_with("card") ||
                       device.name.starts_with("controlD") || device.name.empty() || device.name[0] == ':';
      if (device.name.starts_with("renderD")) renders = true, name = device.name;
      if (!drm && (device.kind == k_gpu || device.kind == k_coprocessor)) {
        const std::size_t digit = device.name.find_first_of("0123456789");
        backends[device.name.substr(0, digit)].push_back(&device);
      }
    }
    std::size_t count = function.kind >> 8 == 0x03 && renders ? 1 : 0;
    if (!backends.empty()) name.clear();
    for (const auto& [backend, devices] : backends) {
      count = std::max(count, devices.size());
      if (name.empty() || backend == "nvml" || backend == "rsmi") name = devices.front()->name;
    }
    for (std::size_t partition = 0; partition < count; ++partition) {
      Gpu gpu;
      gpu.place.index = static_cast<unsigned>(x_node.gpus.size());
      gpu.place.pci = function.address;
      gpu.partition = static_cast<unsigned>(partition);
      gpu.uuid = count == 1 ? function.uuid : "";
      gpu.name = name;
      gpu.cpus = function.cpus;
      gpu.path = function.path;
      if (function.under_l3) gpu.place.l3 = l3_around(function.cpus);
      x_node.gpus.push_back(std::move(gpu));
    }
  }

  std::optional<unsigned> l3_around(const IdSet& cpus) const {
    for (const auto& l3 : x_node.cpus.l3)
      if (!cpus.empty() && cpus.is_subset_of(l3.cpus)) return l3.id;
    return std::nullopt;
  }

  /// High-speed devices: Slingshot, then everything with verbs; Ethernet only where nothing else exists.
  void add_nics() {
    struct Found {
      Nic nic;
      unsigned rank; // 0: InfiniBand, Omni-Path or Slingshot, 1: RDMA over Ethernet, 2: plain Ethernet
    };
    std::vector<Found> found;
    for (const Function& function : x_functions) {
      const Device* best = nullptr;
      for (const Device& device : function.devices)
        if (device.kind == k_openfabrics || (device.kind == k_network && !best)) best = &device;
      if (!best) continue;
      constexpr unsigned k_cray = 0x17db;
      const bool slingshot = function.vendor == k_cray || best->backend == "Slingshot" ||
                             best->name.starts_with("hsi") || best->name.starts_with("hsn");
      const bool fabric = slingshot || (best->kind == k_openfabrics && function.kind != 0x0200);
      Nic nic;
      nic.name = best->name;
      nic.pci = function.address;
      nic.path = function.path;
      for (const auto& numa : x_node.cpus.numa)
        if (!function.cpus.empty() && function.cpus.is_subset_of(numa.cpus)) nic.numa = numa.id;
      for (const auto& package : x_node.cpus.packages)
        if (!function.cpus.empty() && function.cpus.is_subset_of(package.cpus)) nic.package = package.id;
      if (function.under_l3) nic.l3 = l3_around(function.cpus);
      found.push_back({std::move(nic), fabric ? 0u : best->kind == k_openfabrics ? 1u : 2u});
    }
    unsigned lowest = 2;
    for (const Found& each : found) lowest = std::min(lowest, each.rank);
    for (Found& each : found) {
      each.nic.management = each.rank > lowest;
      x_node.nics.push_back(std::move(each.nic));
    }
  }

  const XmlDocument& x_document;
  Node x_node;
  IdSet x_pus;
  std::vector<bool> x_bare; // as x_node.numa: no memory size
  bool x_has_memory = false;
  std::vector<Function> x_functions;
  std::vector<std::string> x_findings;
};

} // namespace

util::Result<Node> parse_hwloc_xml(std::string_view text) {
  TRY(const auto document, XmlDocument::parse(text));
  const pugi::xml_node root = document.root();
  if (!has_name(root, "topology") && !has_name(root, "root"))
    return util::Error{
        fmt::format("the XML file starts with <{}>, not with <topology> as files of hwloc do", root.name()),
        "run lstopo --of xml NEW.xml on the node, and use that file"};
  // Files of 1.x carry no version.
  if (const std::string version = attribute_of(root, "version");
      !version.empty() && version[0] != '1' && version[0] != '2')
    return util::Error{
        fmt::format("the topology file is hwloc XML of version {}, but hpcml reads versions 1 and 2",
                    version),
        "run lstopo --of xml --export-xml-flags v2 NEW.xml on the node to export it again"};
  return HwlocReader(document).read(root);
}

} // namespace hpcml::topo
