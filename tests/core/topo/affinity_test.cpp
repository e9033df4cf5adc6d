// SPDX-License-Identifier: MIT
// Placements that sites document, and the planner's answers to odd requests.
#include "core/topo/affinity.hpp"

#include <catch2/catch.hpp>

#include "core/model/node_shape.hpp"

using namespace hpcml;
using model::CpuShape;
using model::GpuLocality;
using model::IdSet;

namespace {

IdSet list(const std::string& text) {
  auto set = IdSet::parse_list(text);
  REQUIRE(set);
  return *set;
}

std::vector<GpuLocality> under_numa(const std::vector<unsigned>& nodes) {
  std::vector<GpuLocality> places;
  for (unsigned node : nodes) {
    GpuLocality place;
    place.index = static_cast<unsigned>(places.size());
    place.numa = node;
    places.push_back(place);
  }
  return places;
}

/// LUMI-G: 8 L3s with 8 cores, the first of each kept for the system (LUMI user guide, lumig-job; GPU order
/// from the LUMI training, 202-Binding).
CpuShape lumi_cpus() {
  CpuShape shape = model::make_regular_cpus(1, 64, 2, 4, 8);
  shape.reserved = list("0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120");
  return shape;
}

std::vector<GpuLocality> lumi_gpus() {
  auto places = under_numa({3, 3, 1, 1, 0, 0, 2, 2});
  const std::vector<unsigned> l3 = {6, 7, 2, 3, 0, 1, 4, 5};
  for (std::size_t i = 0; i < places.size(); ++i) places[i].l3 = l3[i];
  return places;
}

topo::AffinityRequest request(unsigned ranks, unsigned cores = 0, unsigned threads = 1,
                              unsigned gpus_per_rank = 0) {
  return {ranks, gpus_per_rank, cores, threads, {}};
}

std::vector<std::string> masks(const topo::AffinityPlan& plan) {
  std::vector<std::string> texts;
  for (const auto& rank : plan.ranks) texts.push_back(rank.cpus.to_mask());
  return texts;
}

std::vector<std::string> lists(const topo::AffinityPlan& plan) {
  std::vector<std::string> texts;
  for (const auto& rank : plan.ranks) texts.push_back(rank.cpus.to_list());
  return texts;
}

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("LUMI's documented masks come out of the topology, for 7 cores and for 6") {
  CHECK(masks(topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(8, 7))) ==
        Texts{"0xfe000000000000", "0xfe00000000000000", "0xfe0000", "0xfe000000", "0xfe", "0xfe00",
              "0xfe00000000", "0xfe0000000000"});
  CHECK(masks(topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(8, 6))) ==
        Texts{"0x7e000000000000", "0x7e00000000000000", "0x7e0000", "0x7e000000", "0x7e", "0x7e00",
              "0x7e00000000", "0x7e0000000000"});
  // The training's map_cpu:49,57,17,25,1,9,33,41.
  CHECK(lists(topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(8, 1))) ==
        Texts{"49", "57", "17", "25", "1", "9", "33", "41"});
}

TEST_CASE("With both hardware threads LUMI's masks get the siblings") {
  // LumiOpen's Megatron scripts, BIND_MASK_2: fe and the same bits 64 higher.
  const auto plan = topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(8, 7, 2));
  CHECK(plan.ranks[4].cpus.to_mask() == "0xfe00000000000000fe");
  CHECK(plan.ranks[0].cpus.to_list() == "49-55,113-119");
}

TEST_CASE("Two ranks on one GPU split its L3 before they are cut to their width") {
  // LUMI training: 16 ranks with 3 cores are 1-3 and 5-7 of each L3, core 4 stays idle.
  const auto plan = topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(16, 3));
  CHECK(plan.ranks[0].cpus.to_list() == "49-51");
  CHECK(plan.ranks[1].cpus.to_list() == "53-55");
  CHECK(plan.ranks[8].cpus.to_list() == "1-3");
  CHECK(plan.ranks[9].cpus.to_list() == "5-7");
  CHECK(plan.ranks[9].gpus == std::vector<unsigned>{4});
}

TEST_CASE("A step with some of the GPUs gets the cores near those, whatever they are called") {
  // GCDs c9, ce, d1 and d6 are 2 to 5 on the node and 0 to 3 in the step.
  auto places = lumi_gpus();
  std::vector<GpuLocality> step(places.begin() + 2, places.begin() + 6);
  for (unsigned i = 0; i < 4; ++i) step[i].index = i;
  CHECK(lists(topo::plan_affinity(lumi_cpus(), step, request(4, 7))) ==
        Texts{"17-23", "25-31", "1-7", "9-15"});
}

TEST_CASE("The order of the GPUs is the order of the ranks") {
  // LUMI training, green ring: GCDs 0,1,3,2,4,5,7,6.
  const auto places = lumi_gpus();
  std::vector<GpuLocality> ring;
  for (unsigned gpu : {0u, 1u, 3u, 2u, 4u, 5u, 7u, 6u}) ring.push_back(places[gpu]);
  const auto plan = topo::plan_affinity(lumi_cpus(), ring, request(8, 7));
  CHECK(lists(plan) == Texts{"49-55", "57-63", "25-31", "17-23", "1-7", "9-15", "41-47", "33-39"});
  CHECK(plan.ranks[2].gpus == std::vector<unsigned>{3});
}

TEST_CASE("A rank with several GPUs gets the union of their slices") {
  const auto plan = topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(4, 14));
  CHECK(lists(plan) == Texts{"49-55,57-63", "17-23,25-31", "1-7,9-15", "33-39,41-47"});
  CHECK(plan.ranks[1].gpus == std::vector<unsigned>{2, 3});
  // Fewer cores are taken evenly from both.
  CHECK(topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(4, 6)).ranks[0].cpus.to_list() ==
        "49-51,57-59");
}

TEST_CASE("GPUs under NUMA nodes get those nodes' cores") {
  struct Machine {
    const char* name;
    CpuShape cpus;
    std::vector<unsigned> numa;
    Texts expected;
  };
  const std::vector<Machine> machines = {
      {"Perlmutter: GPU order against NUMA order (NERSC examples, CUDA_VISIBLE_DEVICES=3-LOCALID)",
       model::make_regular_cpus(1, 64, 2, 4, 8),
       {3, 2, 1, 0},
       {"48-63", "32-47", "16-31", "0-15"}},
      {"Delta, 4 A100 (Delta_doc, architecture)",
       model::make_regular_cpus(1, 64, 1, 4, 8),
       {3, 2, 1, 0},
       {"48-63", "32-47", "16-31", "0-15"}},
      {"Delta, 8 A100 (Delta_doc): two GPUs share a NUMA node",
       model::make_regular_cpus(2, 128, 1, 8, 16),
       {3, 3, 1, 1, 7, 7, 5, 5},
       {"48-55", "56-63", "16-23", "24-31", "112-119", "120-127", "80-87", "88-95"}},
      {"DGX A100 (NVIDIA gpu_affinity, test_dgx)",
       model::make_regular_cpus(2, 128, 2, 8, 0),
       {3, 3, 1, 1, 7, 7, 5, 5},
       {"48-55", "56-63", "16-23", "24-31", "112-119", "120-127", "80-87", "88-95"}},
      {"DGX H100 (NVIDIA gpu_affinity)",
       model::make_regular_cpus(2, 112, 2, 2, 0),
       {0, 0, 0, 0, 1, 1, 1, 1},
       {"0-13", "14-27", "28-41", "42-55", "56-69", "70-83", "84-97", "98-111"}},
      {"Alps GH200 (cscs-docs, slurm)",
       model::make_regular_cpus(4, 288, 1, 4, 0),
       {0, 1, 2, 3},
       {"0-71", "72-143", "144-215", "216-287"}},
      {"MareNostrum 5 ACC (POP co-design page)",
       model::make_regular_cpus(2, 80, 1, 2, 0),
       {0, 0, 1, 1},
       {"0-19", "20-39", "40-59", "60-79"}},
      {"JUWELS Booster, its table (booster overview)",
       model::make_regular_cpus(2, 48, 2, 8, 0),
       {3, 1, 7, 5},
       {"18-23", "6-11", "42-47", "30-35"}},
  };
  for (const auto& machine : machines) {
    INFO(machine.name);
    CHECK(lists(topo::plan_affinity(machine.cpus, under_numa(machine.numa),
                                    request(static_cast<unsigned>(machine.numa.size())))) ==
          machine.expected);
  }
}

TEST_CASE("Slices that cannot be equal give the larger ones first") {
  CHECK(lists(topo::plan_affinity(model::make_regular_cpus(1, 10, 1, 1, 0), under_numa({0, 0, 0}),
                                  request(3))) == Texts{"0-3", "4-6", "7-9"});
}

TEST_CASE("Without GPUs, or without their locality, cores are dealt out NUMA node by NUMA node") {
  CpuShape interleaved = model::make_regular_cpus(2, 8, 1, 0, 0);
  interleaved.numa = {{0, list("0,2,4,6")}, {1, list("1,3,5,7")}};
  CHECK(lists(topo::plan_affinity(interleaved, {}, request(2))) == Texts{"0,2,4,6", "1,3,5,7"});
  std::vector<GpuLocality> unknown(2);
  unknown[1].index = 1;
  const auto plan = topo::plan_affinity(interleaved, unknown, request(2));
  CHECK(lists(plan) == Texts{"0,2,4,6", "1,3,5,7"});
  CHECK(plan.ranks[1].gpus == std::vector<unsigned>{1});
  CHECK(plan.ranks[0].why == "GPU 0: locality unknown; cores 0,2,4,6");
}

TEST_CASE("Only allowed CPUs are used, and a core whose first thread is not allowed gives its second") {
  auto wanted = request(2);
  wanted.allowed = list("0-1,6-7");
  CHECK(lists(topo::plan_affinity(model::make_regular_cpus(1, 4, 2, 1, 0), {}, wanted)) ==
        Texts{"0-1", "6-7"});
}

TEST_CASE("A GPU whose domain has no allowed core gets the nearest cores, and the plan says so") {
  auto wanted = request(4);
  wanted.allowed = list("0-143"); // two of Alps' four CPUs
  const auto plan =
      topo::plan_affinity(model::make_regular_cpus(4, 288, 1, 4, 0), under_numa({0, 1, 2, 3}), wanted);
  CHECK(lists(plan) == Texts{"0-35", "72-107", "108-143", "36-71"});
  REQUIRE(plan.warnings.size() == 2);
  CHECK(
      plan.warnings[0] ==
      "rank 2: GPU not local: NUMA 2 has no free core, so NUMA 1 is used; use fewer ranks or cores per rank");
}

TEST_CASE("Ranks whose domain has no allowed core each get a free domain that holds them whole") {
  // A shared node gave two GPUs and fourteen cores far from them.
  auto wanted = request(2, 7);
  wanted.allowed = list("1-7,9-15");
  const auto places = lumi_gpus();
  const std::vector<GpuLocality> step(places.begin(), places.begin() + 2);
  CHECK(lists(topo::plan_affinity(lumi_cpus(), step, wanted)) == Texts{"9-15", "1-7"});
  wanted.cpus_per_rank = 0;
  CHECK(lists(topo::plan_affinity(lumi_cpus(), step, wanted)) == Texts{"9-15", "1-7"});
  wanted.cpus_per_rank = 3; // both fit into the nearest
  CHECK(lists(topo::plan_affinity(lumi_cpus(), step, wanted)) == Texts{"9-11", "13-15"});
}

TEST_CASE("A rank whose slice is short of what it asked for gets free cores of the nearest domain") {
  // 10 ranks on 8 GPUs: ranks 0 and 1 share GPU 0 and its seven cores, every other L3 has three to spare.
  const auto plan = topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(10, 4));
  CHECK(plan.ranks[0].cpus.to_list() == "49-52");
  CHECK(plan.ranks[1].cpus.to_list() == "53-55,61");
  CHECK(plan.ranks[1].why ==
        "GPU 0 is under L3 6 of NUMA 3; cores 53-55, core 48 is reserved; core 61 of L3 7 of NUMA 3, because "
        "its own domain has no more");
}

TEST_CASE("More GPUs than ranks can use, and more cores than there are, are said") {
  const auto plan = topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(3, 20, 1, 1));
  CHECK(plan.ranks[2].gpus == std::vector<unsigned>{2});
  // 56 cores for 3 times 20: a level share.
  for (const auto& rank : plan.ranks) CHECK((rank.cpus.size() == 18 || rank.cpus.size() == 19));
  CHECK(plan.warnings.front() == "5 of 8 GPUs have no rank; use more ranks per node, or more GPUs per rank");
  CHECK(plan.warnings.back() ==
        "rank 2 gets 18 of the 20 requested cores: no other is free; use fewer cores per rank");
}

TEST_CASE("Ranks with several GPUs share no core while there is one for each rank") {
  // Four cores near six GPUs: each of three ranks has two of them.
  const CpuShape shape = model::make_regular_cpus(1, 4, 1, 1, 0);
  const auto plan = topo::plan_affinity(shape, under_numa({0, 0, 0, 0, 0, 0}), request(3));
  CHECK(lists(plan) == Texts{"0-1", "2", "3"});
  CHECK(plan.warnings ==
        Texts{"rank 1: no dedicated core for GPU 3: NUMA 0 has no free core; request more CPUs per task",
              "rank 2: no dedicated core for GPU 5: NUMA 0 has no free core; request more CPUs per task"});
}

TEST_CASE("Ranks that are to have the whole domain stay in it, however many they are") {
  topo::AffinityRequest wanted = request(8);
  wanted.ranks_per_gpu = 4;
  wanted.whole_domain = true;
  const auto plan =
      topo::plan_affinity(model::make_regular_cpus(2, 6, 1, 2, 0), under_numa({0, 0, 1, 1}), wanted);
  CHECK(lists(plan) == Texts{"0-2", "0-2", "0-2", "0-2", "0-2", "0-2", "0-2", "0-2"});
  CHECK(plan.warnings == Texts{"2 of 4 GPUs have no rank; use more ranks per node, or more GPUs per rank"});
}

TEST_CASE("Each choice carries its reason") {
  const auto plan = topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(8, 7));
  CHECK(plan.ranks[0].why == "GPU 0 is under L3 6 of NUMA 3; cores 49-55, core 48 is reserved");
  CHECK(topo::plan_affinity(lumi_cpus(), lumi_gpus(), request(4)).ranks[0].why ==
        "GPUs 0-1 are under L3 6 of NUMA 3 and L3 7 of NUMA 3; cores 49-55,57-63, cores 48,56 are reserved");
}

TEST_CASE("A node without usable cores gives no bindings") {
  CHECK(topo::plan_affinity(CpuShape{}, {}, request(2)).ranks.empty());
  auto nothing = request(2);
  nothing.allowed = list("0,64,8"); // reserved, all of them
  CHECK(topo::plan_affinity(lumi_cpus(), lumi_gpus(), nothing).ranks.empty());
}
