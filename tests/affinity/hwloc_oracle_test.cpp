// SPDX-License-Identifier: MIT
// The same files read by hwloc itself: our reader must see what it sees.
#if __has_include(<hwloc.h>)
#include <hwloc.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/topo/read_node.hpp"
#include "test_data.hpp"

using namespace hpcml;
using model::IdSet;
namespace fs = std::filesystem;

namespace {

IdSet set_of(hwloc_const_bitmap_t bitmap) {
  IdSet set;
  for (int id = hwloc_bitmap_next(bitmap, -1); id >= 0; id = hwloc_bitmap_next(bitmap, id))
    set.add(static_cast<unsigned>(id));
  return set;
}

/// A file as hwloc loads it, with I/O devices.
class Loaded {
public:
  explicit Loaded(const fs::path& file) {
    hwloc_topology_init(&x_topology);
    REQUIRE(hwloc_topology_set_xml(x_topology, file.c_str()) == 0);
    hwloc_topology_set_all_types_filter(x_topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    REQUIRE(hwloc_topology_load(x_topology) == 0);
  }
  ~Loaded() { hwloc_topology_destroy(x_topology); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  std::set<std::string> sets(hwloc_obj_type_t type) const {
    std::set<std::string> lists;
    for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(x_topology, type, object));)
      lists.insert(set_of(object->cpuset).to_list());
    return lists;
  }
  std::map<unsigned, std::string> numa() const {
    std::map<unsigned, std::string> nodes;
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(x_topology, HWLOC_OBJ_NUMANODE, node));)
      nodes[node->os_index] = set_of(node->cpuset).to_list();
    return nodes;
  }
  /// CPUs near the PCI functions that have a device of these kinds.
  std::map<std::string, std::string> devices(const std::set<hwloc_obj_osdev_type_t>& kinds) const {
    std::map<std::string, std::string> found;
    for (hwloc_obj_t device = nullptr; (device = hwloc_get_next_osdev(x_topology, device));) {
      const hwloc_obj_t pci = device->parent;
      if (!kinds.count(device->attr->osdev.type) || pci->type != HWLOC_OBJ_PCI_DEVICE) continue;
      const std::string name = device->name;
      if (name.starts_with("card") || name.starts_with("controlD")) continue;
      char address[32];
      std::snprintf(address, sizeof address, "%04x:%02x:%02x.%01x", pci->attr->pcidev.domain,
                    pci->attr->pcidev.bus, pci->attr->pcidev.dev, pci->attr->pcidev.func);
      found[address] = set_of(hwloc_get_non_io_ancestor_obj(x_topology, device)->cpuset).to_list();
    }
    return found;
  }

private:
  hwloc_topology_t x_topology = nullptr;
};

template <class Sets> std::set<std::string> lists(const Sets& sets) {
  std::set<std::string> texts;
  for (const auto& set : sets) texts.insert(set.to_list());
  return texts;
}
std::set<std::string> lists(const std::vector<model::CpuDomain>& domains) {
  std::set<std::string> texts;
  for (const auto& domain : domains) texts.insert(domain.cpus.to_list());
  return texts;
}

bool is_hwloc(const fs::path& file) {
  return file.extension() == ".xml" && file.filename().string().find("-topo.xml") == std::string::npos;
}

} // namespace

TEST_CASE("Recorded hwloc topologies are read as hwloc reads them") {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(test::unpacked_topologies())) {
    if (!is_hwloc(entry.path())) continue;
    ++files;
    INFO(entry.path().filename().string());
    const Loaded theirs(entry.path());
    const auto ours = topo::load_node(entry.path());
    if (!ours) FAIL(ours.error().what);
    CHECK(lists(ours->cpus.core_threads) == theirs.sets(HWLOC_OBJ_CORE));
    CHECK(lists(ours->cpus.l3) == theirs.sets(HWLOC_OBJ_L3CACHE));
    CHECK(lists(ours->cpus.packages) == theirs.sets(HWLOC_OBJ_PACKAGE));
    std::map<unsigned, std::string> numa;
    for (const auto& domain : ours->cpus.numa) numa[domain.id] = domain.cpus.to_list();
    CHECK(numa == theirs.numa());
    std::map<std::string, std::string> gpus;
    for (const auto& gpu : ours->gpus) gpus[gpu.place.pci] = gpu.cpus.to_list();
    CHECK(gpus == theirs.devices({HWLOC_OBJ_OSDEV_GPU, HWLOC_OBJ_OSDEV_COPROC}));
    std::set<std::string> nics;
    for (const auto& nic : ours->nics) nics.insert(nic.pci);
    std::set<std::string> expected;
    for (const auto& [address, cpus] : theirs.devices({HWLOC_OBJ_OSDEV_OPENFABRICS, HWLOC_OBJ_OSDEV_NETWORK}))
      expected.insert(address);
    CHECK(nics == expected);
  }
  CHECK(files == 7);
}

#endif
