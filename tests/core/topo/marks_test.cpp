// SPDX-License-Identifier: MIT
// What drawings of verified ranks mark: cores, GPUs, NICs and memory.
#include <catch2/catch.hpp>

#include "core/topo/affinity.hpp"
#include "core/topo/read_node.hpp"
#include "core/topo/render_plan.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using topo::PlacedRank;

namespace {

/// Two NUMA nodes with a GPU and a NIC each.
topo::Node two_halves() {
  const auto node = topo::parse_node_json(
      R"({"cores": 8, "packages": {"0": "0-3", "1": "4-7"}, "numa": {"0": "0-3", "1": "4-7"},
          "gpu": {"0": {"pci": "0000:01:00.0", "numa": 0}, "1": {"pci": "0000:02:00.0", "numa": 1}}, "nic": {"ib0": {"numa": 0}, "ib1": {"numa": 1}}})");
  REQUIRE(node);
  return *node;
}

struct Drawings {
  std::string tree, svg;
};

Drawings draw(const std::vector<PlacedRank>& seen) {
  const auto node = two_halves();
  topo::AffinityRequest wanted;
  wanted.ranks = 2;
  const auto plan = topo::plan_affinity(node, wanted);
  REQUIRE(plan);
  return {topo::render_tree(node, *plan, seen), topo::render_svg(node, *plan, seen)};
}

topo::MemoryPolicy bound(unsigned numa) { return {topo::MemoryPolicyMode::bound, model::IdSet::of({numa})}; }

/// The classes of the bar with this text: "free off".
std::string class_of_bar(const std::string& svg, const std::string& text) {
  const auto at = svg.find(">" + text);
  if (at == std::string::npos) return "no bar " + text;
  const auto start = svg.rfind("class=\"", svg.rfind("<rect", at) + 60) + 7;
  return svg.substr(start, svg.find('"', start) - start);
}

unsigned marks_in(const std::string& svg) { // the legend's is no finding
  unsigned count = 0;
  for (auto at = svg.find(" off\""); at != std::string::npos; at = svg.find(" off\"", at + 1)) ++count;
  return count - 1;
}

} // namespace

TEST_CASE("a drawing of ranks that are where they belong marks nothing") {
  const auto drawn = draw({{0, {0}, model::IdSet::of({0, 1, 2, 3}), "ib0", bound(0)},
                           {1, {1}, model::IdSet::of({4, 5, 6, 7}), "ib1", bound(1)}});
  INFO(drawn.tree);
  CHECK(drawn.tree.find('!') == std::string::npos);
  CHECK(marks_in(drawn.svg) == 0);
}

TEST_CASE("a GPU, a NIC or memory far from a rank is marked, with what is wrong") {
  const PlacedRank right{0, {0}, model::IdSet::of({0, 1, 2, 3}), "ib0", bound(0)};
  struct Case {
    PlacedRank rank;
    const char *bar, *tree;
  };
  for (const auto& [rank, bar, tree] : {Case{{1, {1}, model::IdSet::of({4, 5, 6, 7}), "ib0", bound(1)},
                                             "NIC ib0 for rank",
                                             "NIC ib0 -> rank 0 (! rank 1: NIC ib1 ("},
                                        Case{{1, {1}, model::IdSet::of({4, 5, 6, 7}), "ib1", bound(0)},
                                             "memory of NUMA 0 for rank 1",
                                             "NUMA 0 (! rank 1: its memory "}}) {
    CAPTURE(bar);
    const auto drawn = draw({right, rank});
    INFO(drawn.tree + drawn.svg);
    CHECK(drawn.tree.find(tree) != std::string::npos);
    CHECK(class_of_bar(drawn.svg, bar).find("off") != std::string::npos);
    CHECK(marks_in(drawn.svg) == 1);
  }
  const auto far = draw({right, {1, {1}, model::IdSet::of({0, 1, 2, 3}), "", {}}});
  INFO(far.tree);
  CHECK(
      far.tree.find("GPU 1 at 0000:02:00.0 -> rank 1 (! rank 1: none of its CPUs is in NUMA 1 of its GPU)") !=
      std::string::npos);
  CHECK(class_of_bar(far.svg, "GPU 1 for rank 1").find("off") != std::string::npos);
  CHECK(class_of_bar(far.svg, "GPU 0 for rank 0").find("off") == std::string::npos);
  const auto swapped = draw(
      {{0, {1}, model::IdSet::of({4, 5, 6, 7}), "", {}}, {1, {0}, model::IdSet::of({0, 1, 2, 3}), "", {}}});
  CHECK(swapped.tree.find("GPU 0 at 0000:01:00.0 -> rank 0 (! rank 1 has it)") != std::string::npos);
}
