// SPDX-License-Identifier: MIT
// Orders of GPUs: how they are written, and which GPU comes first.
#include <catch2/catch.hpp>

#include "core/topo/rank_order.hpp"

using namespace hpcml;
using model::GpuOrder;
using model::GpuOrderKind;
using Positions = std::vector<std::size_t>;

TEST_CASE("An order is written by its name or as a list, and reads back as itself") {
  for (const char* text : {"gpu", "cpu", "ring", "0", "4,5,2,3,6,7,0,1"}) {
    CAPTURE(text);
    const auto order = GpuOrder::parse(text);
    REQUIRE(order);
    CHECK(order->text() == text);
  }
  CHECK(GpuOrder::parse("2,0")->list == std::vector<unsigned>{2, 0});
  for (const char* text :
       {"", "GPU", "0,", ",", "1;2", "-1", "0x1", "1 2", "99999999", "by cpu", "cpu,gpu"}) {
    CAPTURE(text);
    REQUIRE(!GpuOrder::parse(text));
    CHECK(GpuOrder::parse(text).error().what ==
          "the rank order '" + std::string(text) + "' is neither gpu, cpu, ring nor a list of GPU numbers");
  }
}

TEST_CASE("GPUs are ordered by number, by CPU, as listed, or along their links; the rest is an error") {
  // Numbers that are not positions: a step's own.
  const std::vector<topo::RankGpuOrderKey> gpus = {{0, 48}, {1, 16}, {2, 0}, {3, 16}};
  const auto order_of = [&](GpuOrder order) {
    return topo::find_rank_order(gpus, {{0, 2, 4}, {1, 2, 4}, {1, 3, 4}, {0, 3, 4}}, order);
  };
  CHECK(order_of({}).value() == Positions{0, 1, 2, 3});
  CHECK(order_of({GpuOrderKind::cpu}).value() ==
        Positions{2, 1, 3, 0}); // of two at the same CPU the lower number is first
  CHECK(order_of({GpuOrderKind::list, {3, 0}}).value() == Positions{3, 0});
  const auto ring = order_of({GpuOrderKind::ring});
  REQUIRE(ring);
  CHECK((*ring == Positions{0, 2, 1, 3} ||
         *ring == Positions{0, 3, 1, 2})); // the only circle, either way round
  CHECK(order_of({GpuOrderKind::list, {0, 4}}).error().what ==
        "the order of the GPUs names GPU 4, but there are only 4 GPUs");
  CHECK(order_of({GpuOrderKind::list, {0, 1, 0}}).error().what == "the order of the GPUs names GPU 0 twice");
  CHECK(!topo::find_rank_order(gpus, {}, {GpuOrderKind::ring}));
}

TEST_CASE("The lowest CPU of a GPU is that of its L3, else of its NUMA node, else of its package") {
  const auto shape = model::make_regular_cpus(2, 16, 1, 4, 8);
  model::GpuLocality place;
  CHECK(!topo::lowest_cpu(shape, place));
  place.package = 1;
  CHECK(topo::lowest_cpu(shape, place) == 8U);
  place.numa = 3;
  CHECK(topo::lowest_cpu(shape, place) == 12U);
  place.l3 = 7;
  CHECK(topo::lowest_cpu(shape, place) == 14U);
  place.l3 = 99; // one that the node has not
  CHECK(topo::lowest_cpu(shape, place) == 12U);
}
