// SPDX-License-Identifier: MIT
// The order in which ranks take the visible GPUs: what each rank sees, and the cores that go with it.
#include <catch2/catch.hpp>

#include <algorithm>

#include "run/launch/planned_rank.hpp"

using namespace hpcml;
using model::GpuOrder;
using model::GpuOrderKind;

namespace {

/// Four GPUs in a node of four NUMA nodes, each under the NUMA node of the opposite number.
launch::NodeView crossed_node() {
  launch::NodeView node;
  node.cpus = model::make_regular_cpus(1, 8, 1, 4, 0);
  node.mask = node.cpus.all();
  node.gpus.vendor = model::GpuVendor::nvidia;
  for (unsigned gpu = 0; gpu < 4; ++gpu) node.gpus.places.push_back({gpu, {}, {}, {}, {}});
  for (unsigned gpu = 0; gpu < 4; ++gpu) node.gpus.places[gpu].numa = 3 - gpu;
  return node;
}

util::Result<launch::RankSetup> setup_of(unsigned local_rank, GpuOrder order, model::GpuVisibilityMode seen,
                                         const util::EnvSnapshot& env,
                                         const launch::NodeView& node = crossed_node(), unsigned ranks = 4) {
  launch::LaunchRequest request;
  request.gpu_visibility = seen;
  request.rank_order = std::move(order);
  request.bind = launch::BindMode::apply;
  request.command = {"./train"};
  launch::World world;
  world.layout.local_rank = world.layout.rank = local_rank;
  world.layout.local_world_size = world.layout.world_size = ranks;
  world.layout.nodes = {"n1"};
  world.layout.tasks_per_node = {ranks};
  return testing::planned_rank(request, world, node, env);
}

std::string visible(const launch::RankSetup& setup) {
  return setup.env.get_or("CUDA_VISIBLE_DEVICES", "(unset)");
}

} // namespace

TEST_CASE("ranks that see all GPUs get one list in the order asked for, and the cores of the GPU at their "
          "place in it") {
  const char* const by_cpu[] = {"0-1", "2-3", "4-5", "6-7"};
  for (unsigned rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    const auto ordered = setup_of(rank, {GpuOrderKind::cpu}, model::GpuVisibilityMode::all, {});
    REQUIRE(ordered);
    CHECK(visible(*ordered) == "3,2,1,0");
    CHECK(ordered->plan.binding.cpus.to_list() == by_cpu[rank]);
    CHECK(ordered->plan.binding.gpus == std::vector<unsigned>{3 - rank});
    const auto plain = setup_of(rank, {}, model::GpuVisibilityMode::all, {});
    CHECK(visible(*plain) == "(unset)");
    CHECK(plain->plan.binding.cpus.to_list() == by_cpu[3 - rank]);
  }
}

TEST_CASE("ranks that see their own GPU get the one at their place in the order, in the words of the list "
          "that was there") {
  const util::EnvSnapshot step(std::map<std::string, std::string>{
      {"CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b,GPU-c,GPU-d"}, {"SLURM_STEP_GPUS", "0,1,2,3"}});
  const auto setup = setup_of(1, {GpuOrderKind::list, {2, 3, 0, 1}}, model::GpuVisibilityMode::own, step);
  REQUIRE(setup);
  CHECK(visible(*setup) == "GPU-d");
  CHECK(setup->plan.binding.cpus.to_list() == "0-1"); // GPU 3 hangs under NUMA node 0
}

TEST_CASE("a list is in the step's numbers, and what it names must be there") {
  const util::EnvSnapshot step(std::map<std::string, std::string>{{"CUDA_VISIBLE_DEVICES", "2,3"}});
  const auto setup =
      setup_of(0, {GpuOrderKind::list, {1, 0}}, model::GpuVisibilityMode::all, step, crossed_node(), 2);
  REQUIRE(setup);
  CHECK(visible(*setup) == "3,2");
  CHECK(setup->plan.binding.gpus == std::vector<unsigned>{3});
  const auto wrong =
      setup_of(0, {GpuOrderKind::list, {2, 3}}, model::GpuVisibilityMode::all, step, crossed_node(), 2);
  REQUIRE(!wrong);
  CHECK(wrong.error().what ==
        "--rank-order 2,3: the order of the GPUs names GPU 2, but there are only 2 GPUs");
}

TEST_CASE("a ring goes along the node's links; without links the numbers are taken and it is said") {
  auto node = crossed_node();
  const auto alone = setup_of(0, {GpuOrderKind::ring}, model::GpuVisibilityMode::all, {}, node);
  REQUIRE(alone);
  CHECK(visible(*alone) == "(unset)");
  CHECK(std::any_of(alone->node->warnings.begin(), alone->node->warnings.end(), [](const auto& text) {
    return text == "--rank-order ring: cannot find a ring: the node's topology has no links between its "
                   "GPUs; ranks use the GPUs in numerical order\nhint: use --rank-order gpu, or a list such "
                   "as 0,1,3,2";
  }));
  node.links = {{0, 2, 1}, {1, 2, 1}, {1, 3, 1}, {0, 3, 1}};
  const auto ring = setup_of(0, {GpuOrderKind::ring}, model::GpuVisibilityMode::all, {}, node);
  REQUIRE(ring);
  CHECK(visible(*ring) == "0,2,1,3");
}
