// SPDX-License-Identifier: MIT
// Cost of placement: a launcher's reading of a 128-CPU node and its plan, beside hwloc's discovery of the
// same node, and a table of 10,000 nodes with 8 ranks each. Times of one run; only their ratios mean
// something. ninja affinity_bench && bin/affinity_bench
#include <ctime>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

#ifdef HPCML_HWLOC
#include <hwloc.h>
#endif

#include "core/topo/affinity.hpp"
#include "core/topo/live_node.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

/// The sysfs of a LUMI-G node: 64 cores with two threads, 4 NUMA nodes, 8 L3s, 8 GCDs.
void write_node(const fs::path& root) {
  const auto write = [&](const fs::path& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  };
  const auto both = [](unsigned first, unsigned last) {
    const auto range = [](unsigned a, unsigned b) { return std::to_string(a) + "-" + std::to_string(b); };
    return range(first, last) + "," + range(first + 64, last + 64);
  };
  const auto mask = [](const std::string& list) {
    std::string hex = model::IdSet::parse_list(list)->to_mask().substr(2), text;
    hex.insert(0, 32 - hex.size(), '0');
    for (int i = 0; i < 32; i += 8) text += (i ? "," : "") + hex.substr(static_cast<std::size_t>(i), 8);
    return text;
  };
  const fs::path cpus = "sys/devices/system/cpu", nodes = "sys/devices/system/node";
  for (const char* name : {"online", "possible", "present"}) write(cpus / name, "0-127");
  for (const char* name : {"online", "has_memory", "has_cpu"}) write(nodes / name, "0-3");
  for (unsigned cpu = 0; cpu < 128; ++cpu) {
    const fs::path at = cpus / ("cpu" + std::to_string(cpu));
    const unsigned core = cpu % 64, l3 = core / 8;
    const std::string threads = std::to_string(core) + "," + std::to_string(core + 64);
    write(at / "topology/core_cpus_list", threads);
    write(at / "topology/core_cpus", mask(threads));
    write(at / "topology/thread_siblings", mask(threads));
    write(at / "topology/package_cpus_list", "0-127");
    write(at / "topology/package_cpus", mask("0-127"));
    write(at / "topology/core_siblings", mask("0-127"));
    write(at / "topology/core_id", std::to_string(core));
    write(at / "topology/physical_package_id", "0");
    for (const auto& [index, level, shared] :
         {std::tuple("index0", "1", threads), std::tuple("index1", "1", threads),
          std::tuple("index2", "2", threads), std::tuple("index3", "3", both(l3 * 8, l3 * 8 + 7))}) {
      const fs::path cache = at / "cache" / index;
      write(cache / "level", level);
      write(cache / "shared_cpu_list", shared);
      write(cache / "shared_cpu_map", mask(shared));
      write(cache / "type", std::string(index) == "index1" ? "Instruction" : "Unified");
      write(cache / "size", "512K");
    }
  }
  for (unsigned node = 0; node < 4; ++node) {
    const fs::path at = nodes / ("node" + std::to_string(node));
    write(at / "cpulist", both(node * 16, node * 16 + 15));
    write(at / "cpumap", mask(both(node * 16, node * 16 + 15)));
    write(at / "meminfo", "Node " + std::to_string(node) + " MemTotal: 131000000 kB");
  }
  const unsigned bus[] = {0xc1, 0xc6, 0xc9, 0xce, 0xd1, 0xd6, 0xd9, 0xde}, numa[] = {3, 3, 1, 1, 0, 0, 2, 2};
  const fs::path kfd = "sys/class/kfd/kfd/topology/nodes";
  for (unsigned node = 0; node < 4; ++node) write(kfd / std::to_string(node) / "properties", "simd_count 0");
  for (unsigned gpu = 0; gpu < 8; ++gpu) {
    char address[32];
    std::snprintf(address, sizeof address, "0000:%02x:00.0", bus[gpu]);
    write(fs::path("sys/bus/pci/devices") / address / "numa_node", std::to_string(numa[gpu]));
    std::string properties = "cpu_cores_count 0\nsimd_count 440\n";
    for (int i = 0; i < 25; ++i) properties += "other_property_" + std::to_string(i) + " 1\n";
    write(kfd / std::to_string(gpu + 4) / "properties",
          properties + "location_id " + std::to_string(bus[gpu] << 8) + "\ndomain 0");
  }
}

/// This process's time on a core so far, in microseconds: what else runs on the machine does not count.
double cpu_us() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

/// The median of some runs, in microseconds.
double median_us(int runs, const std::function<void()>& body) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const double begin = cpu_us();
    body();
    times.push_back(cpu_us() - begin);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

} // namespace

int main() {
  const fs::path root = fs::temp_directory_path() / ("hpcml-bench-" + std::to_string(::getpid()));
  write_node(root);
  topo::AffinityRequest request;
  request.ranks = 8;
  std::size_t masks = 0; // used, so that nothing is optimised away
  const double reading = median_us(200, [&] {
    masks += topo::read_live_cpus(root)->core_threads.size() + topo::read_live_gpus(root).places.size();
  });
  const auto cpus = *topo::read_live_cpus(root);
  const auto gpus = topo::read_live_gpus(root).places;
  const double planning =
      median_us(200, [&] { masks += topo::plan_affinity(cpus, gpus, request).ranks.size(); });
  std::printf("read the node's lists  %8.0f us\nplan its 8 ranks       %8.0f us\n", reading, planning);
#ifdef HPCML_HWLOC
  ::setenv("HWLOC_FSROOT", root.c_str(), 1);
  const double discovery = median_us(20, [&] {
    hwloc_topology_t topology;
    hwloc_topology_init(&topology);
    hwloc_topology_load(topology);
    masks += static_cast<std::size_t>(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU));
    hwloc_topology_destroy(topology);
  });
  std::printf("hwloc's discovery      %8.0f us, %.1f times reading and planning\n", discovery,
              discovery / (reading + planning));
#endif
  const double table = median_us(3, [&] {
    for (int node = 0; node < 10000; ++node) masks += topo::plan_affinity(cpus, gpus, request).ranks.size();
  });
  std::printf("10,000 nodes x 8 ranks %8.0f us\n", table);
  fs::remove_all(root);
  return masks > 0 ? 0 : 1;
}
