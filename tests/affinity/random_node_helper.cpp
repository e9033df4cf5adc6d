// SPDX-License-Identifier: MIT
#include "random_node_helper.hpp"

#include "random_numbers.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace hpcml::test {
namespace {

using model::CpuDomain;
using model::IdSet;
using Json = nlohmann::json;

void by_first_cpu(std::vector<CpuDomain>& domains) {
  std::sort(domains.begin(), domains.end(),
            [](const auto& a, const auto& b) { return a.cpus.first() < b.cpus.first(); });
  for (std::size_t i = 0; i < domains.size(); ++i) domains[i].id = static_cast<unsigned>(i);
}

void make_cpus(std::mt19937& random, topo::Node& node) {
  const unsigned packages = pick(random, 1, 4), numa = pick(random, 1, 3), l3 = pick(random, 1, 3),
                 cores = pick(random, 1, 6), threads = chance(random, 50) ? 1 : pick(random, 2, 4);
  const unsigned all = packages * numa * l3 * cores, hole = chance(random, 25) ? pick(random, 1, 30) : 0;
  const bool interleaved = chance(random, 25), adjacent = chance(random, 40);
  const unsigned factor = chance(random, 20) ? 8 : 1;
  model::CpuShape& shape = node.cpus;
  shape.numa.resize(packages * numa);
  shape.l3.resize(packages * numa * l3);
  shape.packages.resize(packages);
  for (unsigned core = 0; core < all; ++core) {
    IdSet set;
    for (unsigned t = 0; t < threads; ++t)
      set.add(hole + (adjacent ? core * threads + t : core + t * (all + hole)));
    const unsigned package = interleaved ? core % packages : core / (all / packages);
    const unsigned inside = interleaved ? core / packages : core % (all / packages);
    const unsigned cache = package * numa * l3 + inside / cores;
    shape.core_threads.push_back(set);
    shape.l3[cache].cpus = shape.l3[cache].cpus | set;
    shape.numa[cache / l3].cpus = shape.numa[cache / l3].cpus | set;
    shape.packages[package].cpus = shape.packages[package].cpus | set;
    if (chance(random, 8)) shape.reserved = shape.reserved | set;
  }
  if (shape.reserved == shape.all()) shape.reserved = {};
  for (unsigned i = 0; i < shape.numa.size(); ++i) shape.numa[i].id = i * factor;
  by_first_cpu(shape.l3);
  by_first_cpu(shape.packages);
  if (chance(random, 30)) shape.l3.clear();
}

template <class T> unsigned id_around(const std::vector<CpuDomain>& domains, const T& cpus) {
  for (const auto& domain : domains)
    if (cpus.is_subset_of(domain.cpus)) return domain.id;
  return 0;
}

/// 0: L3, 1: NUMA node, 2: package, 3: machine.
void attach(std::mt19937& random, const topo::Node& node, unsigned level, std::optional<unsigned>& l3,
            std::optional<unsigned>& numa, std::optional<unsigned>& package) {
  const auto& shape = node.cpus;
  if (level == 0 && !shape.l3.empty())
    l3 = shape.l3[random() % shape.l3.size()].id;
  else if (level <= 1)
    numa = shape.numa[random() % shape.numa.size()].id;
  else if (level == 2)
    package = shape.packages[random() % shape.packages.size()].id;
}

std::string address(unsigned number) {
  char text[16];
  std::snprintf(text, sizeof text, "%04x:%02x:00.0", number / 256, number % 256);
  return text;
}

void make_devices(std::mt19937& random, topo::Node& node) {
  const unsigned gpus = pick(random, 0, 9), nics = pick(random, 0, 4), level = pick(random, 0, 3);
  unsigned bus = 1;
  for (unsigned i = 0; i < gpus; ++i) {
    topo::Gpu gpu;
    gpu.place.index = i;
    gpu.place.pci = address(bus += pick(random, 1, 20));
    attach(random, node, level, gpu.place.l3, gpu.place.numa, gpu.place.package);
    node.gpus.push_back(std::move(gpu));
  }
  for (unsigned i = 0; i < nics; ++i) {
    topo::Nic nic;
    nic.name = "mlx5_" + std::to_string(i);
    nic.pci = address(bus += pick(random, 1, 20));
    attach(random, node, pick(random, 0, 2), nic.l3, nic.numa, nic.package);
    node.nics.push_back(std::move(nic));
  }
}

Json domains_json(const std::vector<CpuDomain>& domains) {
  Json object = Json::object();
  for (const auto& domain : domains) object[std::to_string(domain.id)] = domain.cpus.to_list();
  return object;
}

template <class T> void put_place(Json& object, const T& place) {
  if (place.l3) object["l3"] = *place.l3;
  if (place.numa) object["numa"] = *place.numa;
  if (place.package) object["package"] = *place.package;
}

std::string set_attribute(const IdSet& cpus) {
  const std::string digits = cpus.to_mask().substr(2);
  std::string text;
  for (std::size_t end = digits.size(); end > 0;) {
    const std::size_t begin = end > 8 ? end - 8 : 0;
    text = "0x" + std::string(8 - (end - begin), '0') + digits.substr(begin, end - begin) +
           (text.empty() ? "" : ",") + text;
    end = begin;
  }
  return " cpuset=\"" + text + "\"";
}

/// Devices whose innermost known place is this one.
class XmlWriter {
public:
  explicit XmlWriter(const topo::Node& node) : x_node(node) {}
  std::string write() {
    const auto& shape = x_node.cpus;
    open("Machine", shape.all(), "");
    for (const auto& package : shape.packages) {
      open("Package", package.cpus, "");
      for (const auto& numa : shape.numa)
        if (numa.cpus.is_subset_of(package.cpus)) write_numa(numa);
      devices([&](const auto& d) { return !d.l3 && !d.numa && d.package && *d.package == package.id; });
      close();
    }
    devices([](const auto& d) { return !d.l3 && !d.numa && !d.package; });
    close();
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
           "<topology version=\"2.0\">\n" +
           x_text + "</topology>\n";
  }

private:
  void open(const std::string& type, const IdSet& cpus, const std::string& more) {
    x_text += "<object type=\"" + type + "\"" + more + set_attribute(cpus) + ">\n";
  }
  void close() { x_text += "</object>\n"; }

  void write_numa(const CpuDomain& numa) {
    const auto& shape = x_node.cpus;
    open("Group", numa.cpus, "");
    open("NUMANode", numa.cpus, " os_index=\"" + std::to_string(numa.id) + "\" local_memory=\"1024\"");
    close();
    for (const auto& l3 : shape.l3) {
      if (!l3.cpus.is_subset_of(numa.cpus)) continue;
      open("L3Cache", l3.cpus, "");
      write_cores(l3.cpus);
      devices([&](const auto& d) { return d.l3 && *d.l3 == l3.id; });
      close();
    }
    if (shape.l3.empty()) write_cores(numa.cpus);
    devices([&](const auto& d) { return !d.l3 && d.numa && *d.numa == numa.id; });
    close();
  }

  void write_cores(const IdSet& inside) {
    for (const IdSet& core : x_node.cpus.core_threads) {
      if (!core.is_subset_of(inside)) continue;
      open("Core", core, "");
      for (unsigned cpu : core.ids()) {
        open("PU", IdSet::of({cpu}), " os_index=\"" + std::to_string(cpu) + "\"");
        close();
      }
      close();
    }
  }

  template <class Here> void devices(const Here& is_inside) {
    struct Place {
      std::optional<unsigned> l3, numa, package;
    };
    for (const auto& gpu : x_node.gpus)
      if (is_inside(Place{gpu.place.l3, gpu.place.numa, gpu.place.package}))
        device(gpu.place.pci, "0302", "nvml" + std::to_string(gpu.place.index), 1);
    for (const auto& nic : x_node.nics)
      if (is_inside(Place{nic.l3, nic.numa, nic.package})) device(nic.pci, "0207", nic.name, 3);
  }

  void device(const std::string& pci, const char* kind, const std::string& name, int type) {
    x_text += "<object type=\"Bridge\" bridge_type=\"0-1\">\n<object type=\"PCIDev\" pci_busid=\"" + pci +
              "\" pci_type=\"" + kind + " [10de:1eb8 [10de:12a2]] a1\">\n<object type=\"OSDev\" name=\"" +
              name + "\" osdev_type=\"" + std::to_string(type) + "\"/>\n</object>\n</object>\n";
  }

  const topo::Node& x_node;
  std::string x_text;
};

} // namespace

topo::Node random_node(std::mt19937& random) {
  topo::Node node;
  make_cpus(random, node);
  make_devices(random, node);
  topo::complete_node(node);
  return node;
}

topo::AffinityRequest random_request(std::mt19937& random, const topo::Node& node) {
  topo::AffinityRequest request;
  request.ranks = pick(random, 1, 16);
  request.gpus_per_rank = chance(random, 20) ? pick(random, 1, 3) : 0;
  request.cpus_per_rank = chance(random, 60) ? pick(random, 1, 8) : 0;
  request.threads_per_core = chance(random, 60) ? 1 : pick(random, 2, 4);
  request.ranks_per_gpu = chance(random, 15) ? pick(random, 1, 3) : 0;
  request.idle_cores = chance(random, 25);
  request.balanced = chance(random, 15) && request.cpus_per_rank == 0;
  if (chance(random, 25)) request.order.kind = model::GpuOrderKind::cpu;
  if (chance(random, 10)) {
    request.order = {model::GpuOrderKind::list, {}};
    for (unsigned i = 0; i < node.gpus.size(); ++i) request.order.list.push_back(i);
    std::shuffle(request.order.list.begin(), request.order.list.end(), random);
  }
  if (chance(random, 40))
    for (unsigned cpu : node.cpus.all().ids())
      if (chance(random, 60)) request.allowed.add(cpu);
  return request;
}

std::string render_json(const topo::Node& node) {
  Json root;
  Json cores = Json::array();
  for (const IdSet& core : node.cpus.core_threads) cores.push_back(core.to_list());
  root["core_threads"] = cores;
  root["numa"] = domains_json(node.cpus.numa);
  root["l3"] = domains_json(node.cpus.l3);
  root["packages"] = domains_json(node.cpus.packages);
  root["reserved"] = node.cpus.reserved.to_list();
  for (const auto& gpu : node.gpus) {
    Json entry = {{"pci", gpu.place.pci}};
    put_place(entry, gpu.place);
    root["gpu"][std::to_string(gpu.place.index)] = entry;
  }
  for (const auto& nic : node.nics) {
    Json entry = {{"pci", nic.pci}};
    put_place(entry, nic);
    root["nic"][nic.name] = entry;
  }
  return root.dump();
}

model::NodeType as_profile(const topo::Node& node) {
  model::NodeType type;
  type.id = node.name;
  type.cpu = node.cpus;
  type.gpu.emplace();
  type.gpu->per_node = static_cast<unsigned>(node.gpus.size());
  for (const auto& gpu : node.gpus) type.gpu->places.push_back(gpu.place);
  return type;
}

std::string render_hwloc_xml(const topo::Node& node) { return XmlWriter(node).write(); }

} // namespace hpcml::test
