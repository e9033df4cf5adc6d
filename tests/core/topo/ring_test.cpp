// SPDX-License-Identifier: MIT
// Links between GPUs from files, and the ring through them.
#include "core/topo/ring.hpp"

#include <catch2/catch.hpp>

#include "core/topo/affinity.hpp"
#include "core/topo/read_node.hpp"
#include "test_data.hpp"

using namespace hpcml;
using topo::GpuLink;
using Ring = std::vector<unsigned>;

namespace {

/// Four MI250X: two GCDs of a module share four links, modules have two or one between them. The rings along
/// them are those that LUMI's course material prints as the green and the red one.
const std::vector<GpuLink> k_mi250x = {{0, 1, 4}, {2, 3, 4}, {4, 5, 4}, {6, 7, 4}, {0, 6, 2}, {2, 4, 2},
                                       {1, 3, 2}, {5, 7, 2}, {0, 2, 1}, {1, 5, 1}, {3, 7, 1}, {4, 6, 1}};

} // namespace

TEST_CASE("On an MI250X board the widest ring is the one that LUMI documents") {
  CHECK(*topo::find_ring({0, 1, 2, 3, 4, 5, 6, 7}, k_mi250x) == Ring{0, 1, 3, 2, 4, 5, 7, 6});
  // Without the wide links between modules the narrow ones are left: the red ring.
  std::vector<GpuLink> narrow;
  for (const auto& link : k_mi250x)
    if (link.width != 2) narrow.push_back(link);
  CHECK(*topo::find_ring({0, 1, 2, 3, 4, 5, 6, 7}, narrow) == Ring{0, 1, 5, 4, 6, 7, 3, 2});
}

TEST_CASE("GPUs that are all linked alike keep their order") {
  for (unsigned count : {1u, 2u, 3u, 8u, 16u}) {
    std::vector<GpuLink> links;
    Ring order;
    for (unsigned i = 0; i < count; ++i) {
      order.push_back(i);
      for (unsigned j = i + 1; j < count; ++j) links.push_back({i, j, 12});
    }
    CHECK(*topo::find_ring(order, links) == order);
  }
}

TEST_CASE("Without links, or where they close no ring, there is none") {
  const auto unknown = topo::find_ring({0, 1, 2}, {});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().what.find("has no links") != std::string::npos);
  const auto open = topo::find_ring({0, 1, 2}, {{0, 1, 1}, {1, 2, 1}});
  REQUIRE_FALSE(open);
  CHECK(open.error().what.find("do not form one") != std::string::npos);
}

TEST_CASE("Ranks along a ring have their GPUs' own cores, also where a step sees some of the GPUs") {
  const auto node = topo::parse_node_json(
      R"({"cores": 8, "numa": {"0": "0-1", "1": "2-3", "2": "4-5", "3": "6-7"},
          "gpu": {"0": {"pci": "0000:01:00.0", "numa": 3}, "1": {"pci": "0000:02:00.0", "numa": 2},
                  "2": {"pci": "0000:03:00.0", "numa": 1}, "3": {"pci": "0000:04:00.0", "numa": 0}},
          "links": [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [0, 1, 1], [2, 3, 1], [1, 2]]})");
  REQUIRE(node);
  CHECK(node->links.size() == 6); // a link that is written twice counts once
  topo::AffinityRequest wanted;
  wanted.ranks = 4;
  wanted.order.kind = model::GpuOrderKind::ring;
  const auto plan = topo::plan_affinity(*node, wanted);
  REQUIRE(plan);
  std::vector<std::string> cpus;
  for (const auto& rank : plan->ranks) cpus.push_back(rank.cpus.to_list());
  CHECK(cpus == std::vector<std::string>{"6-7", "2-3", "4-5", "0-1"});
  wanted.ranks = 3;
  wanted.visible = {"02", "03", "04"};
  const auto part = topo::plan_affinity(*node, wanted);
  REQUIRE(part);
  CHECK(part->ranks[0].gpus == Ring{0}); // the step counts anew
  CHECK(part->ranks[0].cpus.to_list() == "4-5");
}

TEST_CASE("Links are read from NCCL's and RCCL's files, over switches too") {
  const auto read = [](const std::string& links) {
    std::string text = "<system version=\"1\"><cpu numaid=\"0\" affinity=\"ff\">";
    for (const char* bus : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"})
      text += std::string("<pci busid=\"") + bus + "\" class=\"0x030200\"><gpu dev=\"0\">" + links +
              "</gpu></pci>";
    return topo::parse_nccl_xml(text + "</cpu></system>");
  };
  const auto direct = read("<xgmi target=\"0000:02:00.0\" count=\"4\" tclass=\"0x038000\"/>");
  REQUIRE(direct);
  REQUIRE(direct->links.size() == 2);
  CHECK(direct->links[0].first == 0);
  CHECK(direct->links[0].second == 1);
  CHECK(direct->links[0].width == 4);
  const auto switched = read("<nvlink target=\"0000:c4:00.0\" count=\"2\" tclass=\"0x068000\"/>"
                             "<nvlink target=\"0000:c5:00.0\" count=\"2\" tclass=\"0x068000\"/>");
  REQUIRE(switched);
  CHECK(switched->links.size() == 3);
  CHECK(switched->links[2].width == 4);
}

TEST_CASE("hwloc's bandwidths between GPUs are links") {
  const auto node = topo::load_node(test::unpacked_topologies() / "eas-tioga.xml");
  REQUIRE(node);
  CHECK(node->links.size() == 28); // this file calls every pair equal
  CHECK(node->links.front().width == 100000);
}

TEST_CASE("Keys of a JSON node that nobody reads are noted, with what may be meant; wrong links are errors") {
  const auto node = topo::parse_node_json(R"({"cores": 2, "reservd": "0"})");
  REQUIRE(node);
  CHECK(node->notes ==
        std::vector<std::string>{
            "hpcml ignores the unknown key 'reservd' in the topology file; use 'reserved' if that is meant"});
  for (const char* links : {"[[0]]", "[[0, -1]]", "[\"0-1\"]", "3", "[[0, 7]]"}) {
    INFO(links);
    CHECK_FALSE(topo::parse_node_json(std::string(R"({"cores": 2, "gpu": {"0": {}, "1": {}}, "links": )") +
                                      links + "}"));
  }
}
