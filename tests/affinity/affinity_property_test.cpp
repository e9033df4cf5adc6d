// SPDX-License-Identifier: MIT
// What must hold for every node, every request and every source of the node.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/topo/check_placement.hpp"
#include "core/topo/mask_text.hpp"
#include "core/topo/read_node.hpp"
#include "random_node_helper.hpp"
#include "samples.hpp"

using namespace hpcml;
using model::IdSet;

namespace {

const int k_rounds = static_cast<int>(test::sampled(12000));

/// The lowest usable thread of each core that may be used.
IdSet usable_cores(const topo::Node& node, const IdSet& allowed) {
  IdSet first;
  for (const IdSet& core : node.cpus.core_threads) {
    const IdSet threads = allowed.empty() ? core : core & allowed;
    if (!core.intersects(node.cpus.reserved) && !threads.empty()) first.add(threads.first());
  }
  return first;
}

IdSet cores_of(const topo::Node& node, const IdSet& cpus) {
  IdSet cores;
  for (std::size_t c = 0; c < node.cpus.core_threads.size(); ++c)
    if (node.cpus.core_threads[c].intersects(cpus)) cores.add(static_cast<unsigned>(c));
  return cores;
}

/// What is wrong with one rank's binding; empty: nothing. One assertion a round keeps thousands of them
/// quick.
std::string rank_problem(const topo::Node& node, const topo::AffinityRequest& request,
                         const model::PlannedRankBinding& rank) {
  const IdSet& allowed = request.allowed;
  if (rank.cpus.empty()) return "has no CPU";
  if (rank.cpus.intersects(node.cpus.reserved)) return "has a reserved CPU";
  if (!rank.cpus.is_subset_of(allowed.empty() ? node.cpus.all() : allowed))
    return "has a CPU that is not allowed";
  const IdSet cores = cores_of(node, rank.cpus);
  if (rank.cores != cores.size()) return "counts its cores wrongly";
  if (request.cpus_per_rank && cores.size() > request.cpus_per_rank) return "has more cores than asked for";
  for (unsigned c : cores.ids()) { // as many threads of each core as were asked for and may be used
    const IdSet core = node.cpus.core_threads[c];
    const std::size_t may = (allowed.empty() ? core : core & allowed).size();
    if ((core & rank.cpus).size() != std::min<std::size_t>(may, request.threads_per_core))
      return "has a part of core " + core.to_list();
  }
  if (rank.why.empty()) return "has no reason";
  if (!(IdSet::parse_mask(rank.cpus.to_mask()).value() == rank.cpus))
    return "has a mask that is not read back";
  if (node.gpus.empty() != rank.gpus.empty()) return "has GPUs where there are none, or none where there are";
  for (unsigned id : rank.memory.ids())
    if (std::none_of(node.numa.begin(), node.numa.end(), [&](const topo::NumaNode& n) {
          return n.id == id && n.kind == topo::NumaMemoryOwner::cpu && n.cpus.intersects(rank.cpus);
        }))
      return "takes memory from NUMA " + std::to_string(id);
  return {};
}

std::string plan_problem(const topo::Node& node, const topo::AffinityRequest& request,
                         const topo::AffinityPlan& plan) {
  const IdSet usable = usable_cores(node, request.allowed);
  if (usable.empty()) return plan.ranks.empty() ? "" : "ranks without a usable core";
  if (plan.ranks.size() != request.ranks) return "not one binding per rank";
  std::size_t fewest = node.cpus.core_threads.size(), most = 0;
  IdSet taken;
  for (const auto& rank : plan.ranks) {
    const std::string who = "rank " + std::to_string(rank.local_rank) + " ";
    if (const std::string problem = rank_problem(node, request, rank); !problem.empty()) return who + problem;
    const IdSet cores = cores_of(node, rank.cpus);
    if (request.ranks <= usable.size() && cores.intersects(taken)) return who + "shares a core";
    taken = taken | cores;
    fewest = std::min(fewest, cores.size());
    most = std::max(most, cores.size());
  }
  if (request.cpus_per_rank && fewest < request.cpus_per_rank && taken.size() != usable.size())
    return "a rank is short of cores while some are free";
  if (request.balanced && request.ranks <= usable.size() && fewest != most) return "balanced ranks differ";
  return {};
}

/// Empty where both plans are the same. One assertion a round keeps thousands of them quick.
std::string difference_of(const topo::AffinityPlan& a, const topo::AffinityPlan& b) {
  if (a.ranks.size() != b.ranks.size()) return "another number of ranks";
  for (std::size_t i = 0; i < a.ranks.size(); ++i) {
    const auto &first = a.ranks[i], &second = b.ranks[i];
    const std::string who = "rank " + std::to_string(i) + ": ";
    if (!(first.cpus == second.cpus)) return who + first.cpus.to_list() + " and " + second.cpus.to_list();
    if (first.gpus != second.gpus || first.nic != second.nic) return who + "another GPU or NIC";
    if (!(first.memory == second.memory))
      return who + "memory of " + first.memory.to_list() + " and " + second.memory.to_list();
    if (first.why != second.why) return who + first.why + " and " + second.why;
  }
  return a.warnings == b.warnings ? "" : "other warnings";
}

} // namespace

TEST_CASE("On random nodes every rank gets whole allowed cores of its own, and none is reserved") {
  std::mt19937 random(20261121);
  for (int round = 0; round < k_rounds; ++round) {
    const topo::Node node = test::random_node(random);
    const topo::AffinityRequest request = test::random_request(random, node);
    const auto plan = topo::plan_affinity(node, request);
    const std::string problem = !topo::check_node(node).empty() ? "a bad node"
                                : plan                          ? plan_problem(node, request, *plan)
                                                                : plan.error().what;
    if (!problem.empty())
      FAIL("round " << round << ": " << problem << "; " << request.ranks << " ranks, "
                    << request.cpus_per_rank << " cores each, allowed " << request.allowed.to_list()
                    << ", node " << test::render_json(node));
  }
}

TEST_CASE("random nodes give the same plan from hwloc XML, from a profile and from memory, and from JSON") {
  std::mt19937 random(5);
  for (int round = 0; round < static_cast<int>(test::sampled(10000)); ++round) {
    const topo::Node node = test::random_node(random);
    const topo::AffinityRequest request = test::random_request(random, node);
    const std::string json = round % 10 == 0 ? test::render_json(node) : std::string();
    const auto from_json = json.empty() ? util::Result<topo::Node>(node) : topo::parse_node_json(json);
    auto from_xml = topo::parse_hwloc_xml(test::render_hwloc_xml(node));
    if (!from_json)
      FAIL(from_json.error().what << "; round " << round << ", node " << test::render_json(node));
    if (!from_xml) FAIL(from_xml.error().what << "; round " << round << ", node " << test::render_json(node));
    from_xml->cpus.reserved = node.cpus.reserved; // no part of the machine, so not in the file
    topo::Node from_profile = topo::make_node(test::as_profile(node));
    from_profile.nics = node.nics; // a profile names the nearest interface of each GPU, not where all are
    const auto plan = topo::plan_affinity(node, request);
    if (!plan) FAIL(plan.error().what << "; round " << round << ", node " << test::render_json(node));
    for (const topo::Node* source : std::vector<const topo::Node*>{&*from_json, &*from_xml, &from_profile})
      if (const auto difference = difference_of(*plan, topo::plan_affinity(*source, request).value());
          !difference.empty())
        FAIL(difference << "; round " << round << ", source "
                        << (source == &*from_json  ? "JSON"
                            : source == &*from_xml ? "XML"
                                                   : "profile")
                        << ", node " << test::render_json(node));
  }
}

TEST_CASE(
    "The checker finds nothing wrong with a plan whose ranks all fit near their GPUs, and any damage to it") {
  std::mt19937 random(99);
  int checked = 0;
  for (int round = 0; round < 2500; ++round) {
    const topo::Node node = test::random_node(random);
    topo::AffinityRequest request = test::random_request(random, node);
    request.allowed = {};
    request.order = {};
    const auto plan = topo::plan_affinity(node, request);
    REQUIRE(plan.ok());
    if (!plan->warnings.empty() || plan->ranks.empty()) continue;
    ++checked;
    std::vector<topo::PlacedRank> ranks;
    for (const auto& rank : plan->ranks) ranks.push_back({rank.local_rank, rank.gpus, rank.cpus, rank.nic});
    const auto clean = topo::check_placement(node, ranks);
    for (const auto& finding : clean.findings)
      if (finding.wrong && finding.kind != topo::PlacementFault::remote_nic)
        FAIL("round " << round << ", rank " << finding.rank << ": " << finding.text << ", node "
                      << test::render_json(node));
    topo::PlacedRank& victim = ranks[random() % ranks.size()];
    if (node.cpus.reserved.empty())
      victim.cpus = {};
    else
      victim.cpus.add(node.cpus.reserved.first());
    CHECK(topo::check_placement(node, ranks).wrong(victim.rank));
  }
  CHECK(checked > 500);
}
