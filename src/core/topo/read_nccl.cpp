// SPDX-License-Identifier: MIT
// NCCL topology files: <system> of <cpu> of nested <pci>.
#include <algorithm>
#include <fmt/format.h>

#include "core/topo/read_links.hpp"
#include "core/topo/read_node.hpp"
#include "core/topo/xml.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

using model::IdSet;

class NcclReader {
public:
  explicit NcclReader(const XmlDocument& document) : x_document(document) {}

  util::Result<Node> read(const pugi::xml_node& system) {
    for (const pugi::xml_node& cpu : system.children("cpu")) read_cpu(cpu);
    if (x_findings.empty() && x_node.cpus.numa.empty())
      x_findings.push_back("the topology file contains no <cpu>");
    make_cores();
    std::stable_sort(x_node.gpus.begin(), x_node.gpus.end(),
                     [](const Gpu& a, const Gpu& b) { return a.place.pci < b.place.pci; });
    for (std::size_t i = 0; i < x_node.gpus.size(); ++i)
      x_node.gpus[i].place.index = static_cast<unsigned>(i);
    // Where InfiniBand exists, Ethernet is for management.
    if (std::any_of(x_infiniband.begin(), x_infiniband.end(), [](bool is) { return is; }))
      for (std::size_t i = 0; i < x_node.nics.size(); ++i) x_node.nics[i].management = !x_infiniband[i];
    x_node.links = read_nccl_links(system, x_node.gpus);
    complete_node(x_node);
    for (auto& finding : check_node(x_node)) x_findings.push_back(std::move(finding));
    if (!x_findings.empty()) return util::Error{util::join(x_findings, "\n")};
    return std::move(x_node);
  }

private:
  void report(const pugi::xml_node& element, const std::string& what) {
    x_findings.push_back(fmt::format("line {}: {}", x_document.line_of(element), what));
  }

  void read_cpu(const pugi::xml_node& cpu) {
    const auto id = util::parse_unsigned(attribute_of(cpu, "numaid"));
    const auto cpus = IdSet::parse_mask(attribute_of(cpu, "affinity"));
    if (!id || *id > 65535)
      return report(cpu, "a <cpu> of the topology file has no valid numaid; add the number of its NUMA node");
    if (!cpus)
      return report(cpu, "a <cpu> of the topology file has no valid affinity; add the mask of its CPUs");
    const auto numa = static_cast<unsigned>(*id);
    x_node.cpus.numa.push_back({numa, *cpus});
    std::vector<std::string> path;
    for (const pugi::xml_node& child : cpu.children()) read_pci(child, numa, path);
  }

  void read_pci(const pugi::xml_node& pci, unsigned numa, std::vector<std::string>& path) {
    if (has_name(pci, "nic")) // devices next to PCI
      for (const pugi::xml_node& net : pci.children())
        add_nic(attribute_of(net, "name"), "", numa, path, true);
    if (!has_name(pci, "pci")) return;
    const std::string bus = util::to_lower(attribute_of(pci, "busid")),
                      kind = attribute_of(pci, "class").substr(0, 6);
    if (bus.empty())
      return report(pci, "a <pci> of the topology file has no busid; add the PCI address of the device");
    if (kind == "0x0302" || kind == "0x0300" || kind == "0x0380" || kind == "0x1200") {
      Gpu gpu;
      gpu.place.pci = bus;
      gpu.place.numa = numa;
      gpu.path = path;
      x_node.gpus.push_back(std::move(gpu));
    } else if (kind.starts_with("0x02")) {
      std::string name = fmt::format("pci {}", bus);
      for (const pugi::xml_node& nic : pci.children("nic"))
        for (const pugi::xml_node& net : nic.children("net"))
          if (net.attribute("name")) name = attribute_of(net, "name");
      add_nic(name, bus, numa, path, kind == "0x0207");
    }
    // Cloud files give all switches one address. The outermost one counts as host bridge and switch: what is
    // below it is joined there.
    const std::size_t depth = path.size();
    const std::string bridge = bus + " " + std::to_string(x_document.line_of(pci));
    path.insert(path.end(), depth == 0 ? 2 : 1, bridge);
    for (const pugi::xml_node& child : pci.children("pci")) read_pci(child, numa, path);
    path.resize(depth);
  }

  void add_nic(const std::string& name, const std::string& bus, unsigned numa,
               const std::vector<std::string>& path, bool infiniband) {
    Nic nic;
    nic.name = name;
    nic.pci = bus;
    nic.numa = numa;
    nic.path = path;
    x_node.nics.push_back(std::move(nic));
    x_infiniband.push_back(infiniband);
  }

  /// Cores with two hardware threads where every mask is closed under "half of all CPUs away" and in two
  /// runs.
  void make_cores() {
    IdSet all;
    for (const auto& numa : x_node.cpus.numa) all = all | numa.cpus;
    if (all.empty()) return;
    const auto count = static_cast<unsigned>(all.size()), half = count / 2;
    bool halves = count % 2 == 0 && all == IdSet::range(0, count - 1);
    for (const auto& numa : x_node.cpus.numa)
      for (unsigned cpu : numa.cpus.ids())
        halves = halves && numa.cpus.contains((cpu + half) % count) && x_node.cpus.numa.size() > 1;
    for (unsigned cpu : all.ids())
      if (!halves)
        x_node.cpus.core_threads.push_back(IdSet::of({cpu}));
      else if (cpu < half)
        x_node.cpus.core_threads.push_back(IdSet::of({cpu, cpu + half}));
    x_node.notes.push_back(
        halves
            ? "an NCCL file lists no cores: hpcml assumes two hardware threads per core; use hwloc XML for "
              "exact ones"
            : "an NCCL file lists no cores: hpcml treats each CPU as a core; use hwloc XML for exact ones");
  }

  const XmlDocument& x_document;
  Node x_node;
  std::vector<bool> x_infiniband; // as x_node.nics
  std::vector<std::string> x_findings;
};

} // namespace

util::Result<Node> parse_nccl_xml(std::string_view text) {
  TRY(const auto document, XmlDocument::parse(text));
  const pugi::xml_node root = document.root();
  if (!has_name(root, "system"))
    return util::Error{
        fmt::format("the XML file starts with <{}>, not with <system> as topology files of NCCL do",
                    root.name()),
        "use a file that NCCL wrote with NCCL_TOPO_DUMP_FILE"};
  if (const std::string version = attribute_of(root, "version"); version != "1")
    return util::Error{fmt::format("the NCCL topology file must have version 1, not '{}'", version),
                       "use a file that NCCL wrote with NCCL_TOPO_DUMP_FILE, or hwloc XML"};
  return NcclReader(document).read(root);
}

} // namespace hpcml::topo
