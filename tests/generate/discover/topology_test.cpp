// SPDX-License-Identifier: MIT
// One node's topology in a discovered profile.
#include <catch2/catch.hpp>

#include "generate/discover/discover_helper.hpp"
#include "generate/discover/topology.hpp"

using namespace hpcml;

namespace {

std::string numas(const std::vector<model::GpuLocality>& places) {
  std::string text;
  for (const auto& place : places) text += place.numa ? std::to_string(*place.numa) + " " : "? ";
  return text;
}

const char* const k_nvidia =
    "\t\033[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n"
    "GPU0\t X \tNV4\tNV4\tNV4\tSYS\t48-63,176-191\t3\t\tN/A\n"
    "GPU1\tNV4\t X \tNV4\tNV4\tSYS\t32-47,160-175\t2\t\tN/A\n"
    "GPU2\tNV4\tNV4\t X \tNV4\tPHB\t16-31,144-159\tN/A\t\tN/A\n"
    "GPU3\tNV4\tNV4\tNV4\t X \tSYS\t0-15,128-143\t0\t\tN/A\n"
    "NIC0\tSYS\tSYS\tPHB\tSYS\t X \n\nLegend:\n\n  X    = Self\n  NIC0: mlx5_0\n";
const char* const k_amd = "========= Numa Nodes =========\nGPU[0]\t\t: (Topology) Numa Node: 3\nGPU[0]\t\t: "
                          "(Topology) Numa Affinity: 3\n"
                          "GPU[1]\t\t: (Topology) Numa Node: 1\nGPU[1]\t\t: (Topology) Numa Affinity: 1\n";

} // namespace

TEST_CASE("the GPU tools' tables give each GPU its NUMA node") {
  CHECK(numas(discover::read_gpu_topology(k_nvidia)) == "3 2 ? 0 ");
  CHECK(numas(discover::read_gpu_topology(k_amd)) == "3 1 ");
  CHECK(discover::read_gpu_topology("No devices were found\n").empty());
  CHECK(discover::read_gpu_topology("").empty());
}

TEST_CASE("a topology belongs to the one kind of node that it fits") {
  const auto kinds = discover::make_node_kinds(test::recorded_cluster("mixed").nodes);
  discover::ObservedNode seen{model::make_regular_cpus(2, 56, 2, 2, 0), {}, {}, "node.xml"};
  REQUIRE(discover::find_kind(seen, kinds));
  CHECK(*discover::find_kind(seen, kinds) == "h100x4");
  seen.cpu = model::make_regular_cpus(2, 128, 1, 8, 0);
  const auto several = discover::find_kind(seen, kinds);
  REQUIRE_FALSE(several);
  CHECK(several.error().what.find("fits several") != std::string::npos);
  seen.gpus.resize(4);
  CHECK(discover::find_kind(seen, kinds).value_or("") == "mi300ax4");
  seen.cpu = model::make_regular_cpus(1, 7, 1, 1, 0);
  CHECK(discover::find_kind(seen, kinds).error().what.find("fits no node type") != std::string::npos);
}

TEST_CASE("a node's topology gives its profile NUMA nodes, GPU places and the CPUs that Slurm keeps") {
  discover::ProfileGenerationInput request;
  auto& type = request.topologies["h100x4"];
  type.cpu = model::make_regular_cpus(2, 56, 2, 2, 2);
  type.gpu = model::GpuShape{};
  for (unsigned i = 0; i < 4; ++i) {
    model::GpuLocality place;
    place.index = i;
    place.numa = i / 2;
    place.pci = "0000:" + std::to_string(i + 1) + "7:00.0";
    type.gpu->places.push_back(place);
  }
  request.topology_source = "h100x4 from node.xml";
  const auto site = test::discovered("mixed", request);
  const auto* node = site.find_node_type("h100x4");
  REQUIRE(node);
  REQUIRE(node->cpu.numa.size() == 2);
  CHECK(node->cpu.numa[1].cpus.to_list() == "28-55,84-111");
  CHECK(node->cpu.reserved.to_list() == "0-1,28-29,56-57,84-85");
  REQUIRE(node->gpu->places.size() == 4);
  CHECK(node->gpu->places[3].numa == 1u);
  CHECK(node->gpu->places[3].pci == "0000:47:00.0");
  REQUIRE(site.sources.size() == 2);
  CHECK(site.sources[1].url == "h100x4 from node.xml");
}

TEST_CASE("GPUs that come with the node are in the profile when the node shows them") {
  auto facts = test::recorded_cluster("plain");
  for (auto& node : facts.nodes) node.gres.clear();
  const auto kinds = discover::make_node_kinds(facts.nodes);
  discover::ObservedNode seen{model::make_regular_cpus(1, 64, 2, 4, 8), std::vector<model::GpuLocality>(1),
                              model::GpuVendor::nvidia, "the node itself"};
  REQUIRE(discover::find_kind(seen, kinds));
  discover::ProfileGenerationInput request;
  request.date = "2026-11-02";
  auto& type = request.topologies[*discover::find_kind(seen, kinds)];
  type.cpu = seen.cpu;
  type.gpu = model::GpuShape{};
  type.gpu->places = seen.gpus;
  type.gpu->vendor = seen.gpu_vendor;
  request.topology_source = "node";
  const auto site = test::read_profile(discover::make_profile(facts, kinds, request).text);
  REQUIRE(site.node_types.front().gpu);
  CHECK(site.node_types.front().gpu->per_node == 1);
  CHECK(site.node_types.front().gpu->vendor == model::GpuVendor::nvidia);
  CHECK(site.gpu_request.style == model::GpuOptionStyle::none);
  CHECK_FALSE(site.partitions.front().cpu_only);
}

TEST_CASE("without a topology Slurm's numbers are those of the usual Linux numbering") {
  CHECK(discover::usual_numbering(model::IdSet::of({0, 1, 16, 17}), 64, 2).to_list() == "0,8,64,72");
}
