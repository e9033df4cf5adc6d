// SPDX-License-Identifier: MIT
// Reading a node from generated trees, and this machine against other witnesses.
#include "core/topo/live_node.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <sched.h>
#include <unistd.h>

#include "core/topo/live_nics.hpp"
#include "core/util/file.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

/// A tree below /tmp that goes with the test.
class Tree {
public:
  Tree()
      : x_root(fs::temp_directory_path() /
               ("hpcml-live-" + std::to_string(::getpid()) + "-" + std::to_string(s_count++))) {}
  ~Tree() { fs::remove_all(x_root); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((x_root / path).parent_path());
    std::ofstream(x_root / path) << text << "\n";
  }
  void link(const std::string& path, const std::string& target) const {
    fs::create_directories((x_root / path).parent_path());
    fs::create_directory_symlink(x_root / target, x_root / path);
  }
  /// A PCI function below bridges: "pci0000:c0/0000:c0:01.1/0000:c1:00.0".
  void add_pci(const std::string& path, int numa, const std::string& driver) const {
    const std::string real = "sys/devices/" + path, address = fs::path(path).filename().string();
    write(real + "/numa_node", std::to_string(numa));
    link(real + "/driver", "sys/bus/pci/drivers/" + driver);
    link("sys/bus/pci/devices/" + address, real);
  }
  const fs::path& root() const { return x_root; }

private:
  static inline int s_count = 0;
  fs::path x_root;
};

/// Four cores with two threads (n and n+4), two L3s, two NUMA nodes and one that is the memory of a GPU.
void write_small_node(const Tree& tree, const std::string& core_file, const std::string& package_file) {
  const std::string cpus = "sys/devices/system/cpu/";
  tree.write(cpus + "online", "0-6"); // CPU 7 is off
  for (unsigned cpu = 0; cpu < 7; ++cpu) {
    const std::string at = cpus + "cpu" + std::to_string(cpu) + "/";
    tree.write(at + "topology/" + core_file, std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
    tree.write(at + "topology/" + package_file, "0-7");
    tree.write(at + "cache/index2/level", "2");
    tree.write(at + "cache/index3/level", "3");
    tree.write(at + "cache/index3/shared_cpu_list", cpu % 4 < 2 ? "0-1,4-5" : "2-3,6-7");
  }
  tree.write("sys/devices/system/node/node0/cpulist", "0-1,4-5");
  tree.write("sys/devices/system/node/node8/cpulist", "2-3,6-7");
  tree.write("sys/devices/system/node/node255/cpulist", "");
  tree.write("sys/devices/system/node/online", "0,8,255");
}

} // namespace

TEST_CASE(
    "A node's cores, caches and NUMA nodes are read from sysfs, with the kernel's new and old file names") {
  for (const bool new_names : {true, false}) {
    Tree tree;
    write_small_node(tree, new_names ? "core_cpus_list" : "thread_siblings_list",
                     new_names ? "package_cpus_list" : "core_siblings_list");
    const auto shape = topo::read_live_cpus(tree.root());
    REQUIRE(shape);
    CHECK(shape->cores == 4);
    CHECK(shape->threads_per_core == 2);
    CHECK(shape->sockets == 1);
    REQUIRE(shape->core_threads.size() == 4);
    CHECK(shape->core_threads[2].to_list() == "2,6");
    CHECK(shape->core_threads[3].to_list() == "3"); // its other thread is off
    REQUIRE(shape->l3.size() == 2);
    CHECK(shape->l3[1].cpus.to_list() == "2-3,6");
    REQUIRE(shape->numa.size() == 2);
    CHECK(shape->numa[1].id == 8);
    CHECK(shape->numa[1].cpus.to_list() == "2-3,6");
    CHECK(shape->all().to_list() == "0-6");
  }
}

TEST_CASE("A machine without a level leaves it empty, and one that tells no CPUs is an error with the file's "
          "name") {
  Tree tree;
  tree.write("sys/devices/system/cpu/online", "0-1");
  const auto shape = topo::read_live_cpus(tree.root());
  REQUIRE(shape);
  CHECK(shape->cores == 2);
  CHECK(shape->l3.empty());
  CHECK(shape->numa.empty());
  Tree empty;
  const auto nothing = topo::read_live_cpus(empty.root());
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().what.find("cpu/online") != std::string::npos);
}

TEST_CASE("NVIDIA GPUs come in PCI order with the NUMA node that the kernel gives") {
  Tree tree;
  for (const char* pci : {"0000:C6:00.0", "0000:81:00.0"})
    tree.write(std::string("proc/driver/nvidia/gpus/") + pci + "/information", "x");
  tree.write("sys/bus/pci/devices/0000:c6:00.0/numa_node", "3");
  tree.write("sys/bus/pci/devices/0000:81:00.0/numa_node", "-1");
  const auto [vendor, gpus] = topo::read_live_gpus(tree.root());
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].pci == "0000:81:00.0");
  CHECK_FALSE(gpus[0].numa);
  CHECK(gpus[1].index == 1);
  CHECK(gpus[1].numa == 3u);
  CHECK(vendor == model::GpuVendor::nvidia);
}

TEST_CASE("AMD GPUs are the compute topology's nodes with SIMD units, in its order, which is the runtime's") {
  Tree tree;
  const std::string nodes = "sys/class/kfd/kfd/topology/nodes/";
  tree.write(nodes + "0/properties", "cpu_cores_count 64\nsimd_count 0\nlocation_id 0\ndomain 0");
  tree.write(nodes + "4/properties",
             "cpu_cores_count 0\nsimd_count 440\nlocation_id 49408\ndomain 0"); // c1:00.0
  tree.write(nodes + "10/properties",
             "cpu_cores_count 0\nsimd_count 440\nlocation_id 50688\ndomain 0"); // c6:00.0
  tree.write("sys/bus/pci/devices/0000:c1:00.0/numa_node", "3");
  const auto [vendor, gpus] = topo::read_live_gpus(tree.root());
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].pci == "0000:c1:00.0");
  CHECK(gpus[0].numa == 3u);
  CHECK(gpus[1].pci == "0000:c6:00.0");
  CHECK(vendor == model::GpuVendor::amd);
}

TEST_CASE(
    "The NIC beside a GPU is the one under its switch, then under its host bridge, then of its NUMA node") {
  Tree tree;
  const auto device = [&](const std::string& path, const char* numa) {
    tree.add_pci(path, std::stoi(numa), "any");
    return "sys/devices/" + path;
  };
  std::vector<model::GpuLocality> gpus;
  const auto gpu = [&](const std::string& path, const char* numa) {
    model::GpuLocality place;
    place.index = static_cast<unsigned>(gpus.size());
    place.pci = path.substr(path.rfind('/') + 1);
    place.numa = static_cast<unsigned>(std::stoul(numa));
    device(path, numa);
    gpus.push_back(place);
  };
  const auto rdma = [&](const std::string& name, const std::string& path, const char* numa, const char* state,
                        const char* layer) {
    const auto at = "sys/class/infiniband/" + name;
    tree.write(at + "/ports/1/state", state);
    tree.write(at + "/ports/1/link_layer", layer);
    tree.link(at + "/device", device(path, numa));
  };
  gpu("pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0", "0");
  gpu("pci0000:40/0000:40:01.1/0000:41:00.0", "1");
  gpu("pci0000:80/0000:80:01.1/0000:81:00.0", "2");
  rdma("mlx5_0", "pci0000:40/0000:40:03.1/0000:45:00.0", "1", "4: ACTIVE",
       "InfiniBand"); // GPU 1's host bridge
  rdma("mlx5_1", "pci0000:00/0000:00:01.1/0000:01:01.0/0000:04:00.0", "0", "4: ACTIVE",
       "InfiniBand"); // GPU 0's switch
  rdma("mlx5_2", "pci0000:00/0000:00:01.1/0000:01:00.0/0000:05:00.0", "0", "1: DOWN",
       "InfiniBand"); // nearer, but no cable
  rdma("mlx5_3", "pci0000:c0/0000:c0:01.1/0000:c1:00.0", "2", "4: ACTIVE", "InfiniBand");
  rdma("mlx5_bond_0", "pci0000:80/0000:80:02.1/0000:82:00.0", "2", "4: ACTIVE",
       "Ethernet"); // GPU 2's host bridge, another network
  tree.link("sys/class/net/ib2/device", "sys/devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0");
  const auto nics = topo::read_live_nics(gpus, {"ib2", "ib7"}, tree.root());
  REQUIRE(nics.devices.size() == 3);
  CHECK(nics.devices[0].nic + " " + nics.devices[0].why == "mlx5_1 same PCIe switch");
  CHECK(nics.devices[1].nic + " " + nics.devices[1].why == "mlx5_0 same host bridge");
  CHECK(nics.devices[2].nic + " " + nics.devices[2].why == "mlx5_3 same NUMA node");
  CHECK(nics.interfaces[2].nic == "ib2");
  CHECK(nics.fabric == "=mlx5_0,mlx5_1,mlx5_3");
  CHECK(topo::read_live_nics({}, {"ib2"}, tree.root()).devices.empty());
}

TEST_CASE("Where all RDMA devices are on Ethernet, that is the fabric") {
  Tree tree;
  tree.write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  tree.write("sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet");
  tree.add_pci("pci0000:00/0000:04:00.0", 0, "mlx5_core");
  tree.link("sys/class/infiniband/mlx5_0/device", "sys/devices/pci0000:00/0000:04:00.0");
  model::GpuLocality gpu;
  gpu.numa = 0;
  const auto nics = topo::read_live_nics({gpu}, {}, tree.root());
  REQUIRE(nics.devices.size() == 1);
  CHECK(nics.devices[0].nic == "mlx5_0");
  CHECK(nics.fabric.empty());
}

TEST_CASE("A node without GPUs has none") {
  Tree tree;
  CHECK(topo::read_live_gpus(tree.root()).places.empty());
  CHECK(topo::read_live_gpus(tree.root()).vendor == model::GpuVendor::unknown);
}

TEST_CASE(
    "The whole live node has AMD's UUIDs, links, partitions and the Slingshot interface at the same bridge") {
  Tree tree;
  write_small_node(tree, "core_cpus_list", "package_cpus_list");
  tree.write("sys/devices/system/node/has_memory", "0,255");
  const std::string nodes = "sys/class/kfd/kfd/topology/nodes/";
  tree.write(nodes + "0/properties", "simd_count 0\nlocation_id 0");
  for (const char* id : {"4", "10"}) {
    const bool first = std::string(id) == "4";
    tree.write(nodes + id + "/properties", std::string("simd_count 440\nlocation_id ") +
                                               (first ? "49408" : "50688") + "\nunique_id 81985529216486895");
    tree.write(nodes + id + "/io_links/0/properties", "type 2\nnode_to 0\nmax_bandwidth 64000");
    tree.write(nodes + id + "/io_links/1/properties",
               std::string("type 11\nnode_to ") + (first ? "10" : "4") + "\nmax_bandwidth 200000");
  }
  tree.write(nodes + "11/properties", "simd_count 220\nlocation_id 50688"); // a part of the second function
  tree.add_pci("pci0000:c0/0000:c0:01.1/0000:c1:00.0", 8, "amdgpu");
  tree.add_pci("pci0000:c0/0000:c0:03.1/0000:c5:00.0", 8, "cxi_ss1");
  tree.add_pci("pci0000:c0/0000:c0:05.1/0000:c6:00.0", 0, "amdgpu");
  tree.add_pci("pci0000:90/0000:91:00.0", 0, "igb");
  tree.link("sys/class/net/hsn0/device", "sys/devices/pci0000:c0/0000:c0:03.1/0000:c5:00.0");
  tree.link("sys/class/net/nmn0/device", "sys/devices/pci0000:90/0000:91:00.0");
  tree.write("sys/class/net/lo/operstate", "unknown");
  const auto node = topo::read_live_node(tree.root());
  REQUIRE(node);
  REQUIRE(node->gpus.size() == 3);
  CHECK(node->gpus[0].uuid == "GPU-0123456789abcdef");
  CHECK(node->gpus[0].place.numa == 8u);
  CHECK(node->gpus[0].path == std::vector<std::string>{"pci0000:c0", "0000:c0:01.1"});
  CHECK(node->gpus[1].partition == 0);
  CHECK(node->gpus[2].partition == 1);
  REQUIRE(node->links.size() == 1);
  CHECK(node->links[0].width == 200000);
  REQUIRE(node->nics.size() == 2);
  CHECK(node->nics[0].name == "hsn0");
  CHECK_FALSE(node->nics[0].management);
  CHECK(node->nics[1].management);
  REQUIRE(node->numa.size() == 3);
  CHECK(node->numa[1].kind == topo::NumaMemoryOwner::none); // NUMA 8 has CPUs, but no memory
  CHECK(node->numa[2].kind == topo::NumaMemoryOwner::device);
  CHECK(topo::check_node(*node).empty());
}

TEST_CASE("The whole live node has NVIDIA's UUIDs and MIG instances, and InfiniBand before Ethernet") {
  Tree tree;
  write_small_node(tree, "core_cpus_list", "package_cpus_list");
  const std::string gpus = "proc/driver/nvidia/";
  const auto add_gpu = [&](const std::string& name, const std::string& minor) {
    tree.write(gpus + "gpus/" + name + "/information",
               "Model: \t\t NVIDIA A100\nGPU UUID: \t GPU-aa" + minor + "\nDevice Minor: \t " + minor);
  };
  add_gpu("0000:81:00.0", "0");
  add_gpu("0000:C1:00.0", "1");
  for (const char* instance : {"gi7/ci0", "gi11/ci0"})
    tree.write(gpus + "capabilities/gpu1/mig/" + instance + "/access", "x");
  tree.write(gpus + "capabilities/gpu1/mig/config", "x");
  tree.add_pci("pci0000:80/0000:81:00.0", 0, "nvidia");
  tree.add_pci("pci0000:c0/0000:c1:00.0", -1, "nvidia");
  tree.write("sys/devices/pci0000:c0/0000:c1:00.0/local_cpulist", "2-3,6");
  tree.add_pci("pci0000:c0/0000:c4:00.0", 8, "mlx5_core");
  tree.add_pci("pci0000:80/0000:84:00.0", 0, "mlx5_core");
  tree.link("sys/class/infiniband/mlx5_0/device", "sys/devices/pci0000:80/0000:84:00.0");
  tree.write("sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet");
  tree.link("sys/class/infiniband/mlx5_1/device", "sys/devices/pci0000:c0/0000:c4:00.0");
  tree.write("sys/class/infiniband/mlx5_1/ports/1/link_layer", "InfiniBand");
  tree.link("sys/class/net/ib0/device", "sys/devices/pci0000:c0/0000:c4:00.0");
  const auto node = topo::read_live_node(tree.root());
  REQUIRE(node);
  REQUIRE(node->gpus.size() == 3);
  CHECK(node->gpus[0].uuid == "GPU-aa0");
  CHECK(node->gpus[0].name == "NVIDIA A100");
  CHECK(node->gpus[1].uuid.empty());
  CHECK(node->gpus[2].partition == 1);
  CHECK(node->gpus[2].place.index == 2);
  CHECK(node->gpus[2].place.numa == 8u); // from its CPUs, the firmware tells no node
  REQUIRE(node->notes.size() == 1);
  CHECK(node->notes[0].find("0000:c1:00.0 is divided into 2 MIG instances") != std::string::npos);
  REQUIRE(node->nics.size() == 2);
  CHECK(node->nics[0].management);
  CHECK_FALSE(node->nics[1].management);
}

TEST_CASE("This machine's shape agrees with the C library, and the allowed CPUs with /proc") {
  const auto shape = topo::read_live_cpus();
  REQUIRE(shape);
  CHECK(shape->all().size() == static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  const auto allowed = topo::read_allowed_cpus();
  REQUIRE(allowed);
  const auto status = util::read_file("/proc/thread-self/status");
  REQUIRE(status);
  const std::string key = "Cpus_allowed_list:\t";
  const auto at = status->find(key);
  REQUIRE(at != std::string::npos);
  CHECK(allowed->to_list() == status->substr(at + key.size(), status->find('\n', at) - at - key.size()));
}

TEST_CASE("The allowed CPUs follow the calling thread's mask") {
  std::string seen;
  std::thread([&] {
    const auto before = topo::read_allowed_cpus();
    if (!before) return;
    cpu_set_t single_cpu;
    CPU_ZERO(&single_cpu);
    CPU_SET(before->first(), &single_cpu);
    if (sched_setaffinity(0, sizeof single_cpu, &single_cpu) != 0) return;
    const auto after = topo::read_allowed_cpus();
    if (after) seen = after->to_list() + "/" + std::to_string(before->first());
  }).join();
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.substr(0, seen.find('/')) == seen.substr(seen.find('/') + 1));
}
