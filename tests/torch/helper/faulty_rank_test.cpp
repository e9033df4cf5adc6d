// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <set>

#include "torch/helper/faulty_rank.hpp"
#include "torch/helper/pairing.hpp"

using namespace hpcml::helper;
using Catch::Contains;

namespace {

/// All pairs of ranks have met; `fails(by, peer)` says whose message to whom arrived altered.
template <class Fails>
FailureEvidence after_a_sweep(const std::vector<std::string>& hosts, const Fails& fails,
                              const std::vector<int>& absent = {}) {
  FailureEvidence evidence{hosts, {}, absent};
  const int count = static_cast<int>(hosts.size());
  const std::set<int> away(absent.begin(), absent.end());
  for (int by = 0; by < count; ++by)
    for (int peer = 0; peer < count; ++peer) {
      if (by == peer || away.count(by) || away.count(peer)) continue;
      PairFaultReport seen;
      seen.by = by;
      seen.peer = peer;
      seen.message = fails(peer, by);
      if (seen.message) seen.text = "element 5";
      evidence.seen.push_back(seen);
    }
  return evidence;
}

const std::vector<std::string> k_four = {"a", "b", "c", "d"};
/// Six ranks on three hosts, and four on two.
const std::vector<std::string> k_three_by_two = {"a", "a", "b", "b", "c", "c"};
const std::vector<std::string> k_two_by_two = {"a", "a", "b", "b"};

using Ranks = std::vector<int>;

} // namespace

TEST_CASE("in a tournament everybody meets everybody once, and in each round nobody plays twice") {
  for (int count = 0; count <= 17; ++count) {
    std::set<std::set<int>> games;
    for (int round = 0; round < rounds_of(count); ++round)
      for (int player = 0; player < count; ++player)
        if (const auto partner = partner_of(player, count, round)) {
          REQUIRE(*partner >= 0);
          REQUIRE(*partner < count);
          REQUIRE(*partner != player);
          REQUIRE(partner_of(*partner, count, round) == player);
          games.insert({player, *partner});
        }
    CHECK(static_cast<int>(games.size()) == count * (count - 1) / 2);
  }
}

TEST_CASE("the rank that has a part in every pair that fails is guilty, whichever way its messages go") {
  for (int bad = 0; bad < 4; ++bad) {
    const auto sends = attribute_fault(after_a_sweep(k_four, [&](int from, int) { return from == bad; }));
    CHECK(sends.faulty == Ranks{bad});
    CHECK_THAT(sends.how, Contains("what it sends is altered") && Contains("element 5"));
    const auto receives = attribute_fault(after_a_sweep(k_four, [&](int, int to) { return to == bad; }));
    CHECK(receives.faulty == Ranks{bad});
    CHECK_THAT(receives.how, Contains("what it receives is altered"));
    const auto both =
        attribute_fault(after_a_sweep(k_four, [&](int from, int to) { return from == bad || to == bad; }));
    CHECK(both.faulty == Ranks{bad});
    CHECK_THAT(both.how, Contains("what it sends and what it receives"));
  }
}

TEST_CASE("two guilty of four and of six are both named, and no third") {
  for (const auto& hosts : {k_four, k_three_by_two}) {
    const auto found =
        attribute_fault(after_a_sweep(hosts, [](int from, int) { return from == 1 || from == 2; }));
    CHECK(found.faulty == Ranks{1, 2});
  }
}

TEST_CASE("a fault between two ranks alone is nobody's: both are named as possible, none as guilty") {
  const auto link =
      attribute_fault(after_a_sweep(k_four, [](int from, int to) { return from + to == 4 && from != to; }));
  CHECK(link.faulty.empty());
  CHECK_THAT(link.how, Contains("rank 1 (b) and rank 3 (d)") && Contains("the path between them"));
  const auto pair = attribute_fault(after_a_sweep({"a", "b"}, [](int from, int) { return from == 0; }));
  CHECK(pair.faulty.empty());
  CHECK_THAT(pair.how, Contains("rank 0 (a) and rank 1 (b)"));
}

TEST_CASE("what does not come again, and what several could explain, has no culprit") {
  const auto gone = attribute_fault(after_a_sweep(k_four, [](int, int) { return false; }));
  CHECK(gone.faulty.empty());
  CHECK_THAT(gone.how, Contains("6 pairs") && Contains("passed when tested alone"));
  // 0 and 1 with 2 and 3: either two could be it.
  const auto square =
      attribute_fault(after_a_sweep(k_four, [](int from, int to) { return from / 2 != to / 2; }));
  CHECK(square.faulty.empty());
  CHECK_THAT(square.how, Contains("4 of 6 pairs"));
  const auto all = attribute_fault(after_a_sweep(k_four, [](int, int) { return true; }));
  CHECK(all.faulty.empty());
  // Two links that share a rank, which is well with most of the others.
  const auto bent = attribute_fault(after_a_sweep(
      k_three_by_two, [](int from, int to) { return (from == 0 && to == 1) || (from == 0 && to == 2); }));
  CHECK(bent.faulty.empty());
}

TEST_CASE("a host whose ranks fail with all other hosts is found as a host; of two hosts neither is") {
  const auto host_c = [](int from, int to) { return (from >= 4) != (to >= 4); };
  CHECK(attribute_fault(after_a_sweep(k_three_by_two, host_c)).faulty == Ranks{4, 5});
  std::vector<std::string> hosts;
  for (int rank = 0; rank < 32; ++rank) hosts.push_back("n" + std::to_string(rank / 8));
  const auto found = attribute_fault(
      after_a_sweep(hosts, [](int from, int to) { return (from / 8 == 2) != (to / 8 == 2); }));
  CHECK(found.faulty == Ranks{16, 17, 18, 19, 20, 21, 22, 23});
  const auto two =
      attribute_fault(after_a_sweep(k_two_by_two, [](int from, int to) { return from / 2 != to / 2; }));
  CHECK(two.faulty.empty());
}

TEST_CASE("who reports a wrong tensor of its own is guilty, also where there are only two") {
  auto evidence = after_a_sweep({"a", "b"}, [](int from, int) { return from == 1; });
  for (auto& seen : evidence.seen)
    if (seen.by == 1) {
      seen.input = true;
      seen.text = "its own tensor";
    }
  CHECK(attribute_fault(evidence).faulty == Ranks{1});
  CHECK_THAT(attribute_fault(evidence).how, Contains("its own tensor"));
}

TEST_CASE("a rank that left is named if the others find nothing among themselves, else the one they find") {
  CHECK(attribute_fault(after_a_sweep(k_four, [](int, int) { return false; }, {2})).faulty == Ranks{2});
  const auto found = attribute_fault(after_a_sweep(k_four, [](int from, int) { return from == 3; }, {2}));
  CHECK(found.faulty == Ranks{3});
}
