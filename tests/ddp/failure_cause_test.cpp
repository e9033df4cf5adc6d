// SPDX-License-Identifier: MIT
// Who is to blame, from what the ranks say of themselves.
#include <catch2/catch.hpp>

#include "ddp/failure_cause.hpp"

using namespace hpcml::ddp;
using Catch::Contains;

namespace {

RankReport in_operation(std::int64_t operations, double seconds = 1) {
  return {RankReport::State::waiting, operations, seconds, "all_reduce", "", {}};
}

RankReport busy(std::int64_t operations, double seconds) {
  return {RankReport::State::computing, operations, seconds, "all_reduce", "", {}};
}

/// Waits for another rank; exchanges are not counted.
RankReport exchanging(const Operation& exchange, std::int64_t operations = 4) {
  return {RankReport::State::waiting, operations, 1, "barrier", "", exchange};
}

const std::vector<std::string> k_hosts = {"n1", "n1", "n2", "n2"};

} // namespace

TEST_CASE("a rank that does not answer is gone; its host is named") {
  const auto found = find_cause({in_operation(7), std::nullopt, in_operation(7), in_operation(7)}, k_hosts);
  CHECK(found.ranks == std::vector<int>{1});
  CHECK(found.clause == "rank 1 (n1) is lost: no answer");
}

TEST_CASE("a rank that failed by itself comes before those that are silent") {
  auto failed = busy(3, 1);
  failed.state = RankReport::State::failed;
  failed.why = "no such file";
  const auto found = find_cause({in_operation(7), std::nullopt, failed, in_operation(7)}, k_hosts);
  CHECK(found.ranks == std::vector<int>{2});
  CHECK(found.clause == "rank 2 (n2) failed: no such file");
}

TEST_CASE("of ranks that all live those are to blame that have begun fewer operations") {
  const auto slow = find_cause({in_operation(8), busy(7, 12.4), in_operation(8), busy(7, 3)}, k_hosts);
  CHECK(slow.ranks == std::vector<int>{1, 3});
  CHECK(slow.clause ==
        "ranks 1 and 3 (n1, n2) have not reached all_reduce, operation 8, but are busy elsewhere for 12 s");
  const auto cause =
      find_cause({in_operation(8), in_operation(6), in_operation(8), in_operation(8)}, k_hosts);
  CHECK(cause.ranks == std::vector<int>{1});
  CHECK_THAT(cause.clause, Contains("but is in all_reduce, operation 6"));
}

TEST_CASE("nobody is blamed where all take part, and who has left is") {
  CHECK(find_cause({in_operation(8), in_operation(8)}, {"a", "b"}).ranks.empty());
  auto left = busy(5, 1);
  left.state = RankReport::State::left;
  CHECK(find_cause({in_operation(8), left}, {"a", "b"}).clause == "rank 1 (b) has left after operation 5");
}

TEST_CASE("of ranks that wait for single others whoever is waited for and does not wait is to blame, however "
          "few it began") {
  const auto busy_one =
      find_cause({exchanging({k_recv, 1, 3}), exchanging({k_recv, 2, 3}), busy(9, 4), busy(2, 4)}, k_hosts);
  CHECK(busy_one.ranks == std::vector<int>{2});
  CHECK(busy_one.clause ==
        "rank 2 (n2) is busy elsewhere for 4.0 s, while rank 1 waits in recv from rank 2 (tag 3)");
  // Who has left is only to blame where it is waited for.
  auto left = busy(4, 1);
  left.state = RankReport::State::left;
  const auto cause = find_cause({exchanging({k_send, 1, 0}), busy(4, 20), left}, k_hosts);
  CHECK(cause.ranks == std::vector<int>{1});
  const auto gone = find_cause({exchanging({k_send, 2, 0}), busy(4, 20), left}, k_hosts);
  CHECK(gone.clause == "rank 2 (n2) has left, while rank 0 waits in send to rank 2 (tag 0)");
}

TEST_CASE("ranks that wait for each other are all named, also where one of them is in an operation of all") {
  const auto ring = find_cause(
      {exchanging({k_recv, 1, 0}), exchanging({k_recv, 2, 0}), exchanging({k_recv, 1, 5})}, k_hosts);
  CHECK(ring.ranks == std::vector<int>{1, 2});
  CHECK(ring.clause == "ranks 1 and 2 (n1, n2) wait for each other: rank 1 in recv from rank 2 (tag 0), rank "
                       "2 in recv from rank 1 (tag 5)");
  const auto mixed = find_cause({exchanging({k_recv, 1, 0}), in_operation(5)}, k_hosts);
  CHECK(mixed.ranks == std::vector<int>{0, 1});
  CHECK_THAT(mixed.clause, Contains("rank 1 in all_reduce, operation 5"));
  CHECK(find_cause({exchanging({k_recv, 7, 0}), in_operation(4)}, k_hosts).ranks.empty()); // no such rank
}

TEST_CASE("ranks of which nothing was heard have not come; many are counted") {
  std::vector<std::optional<RankReport>> reports(12);
  reports[0] = in_operation(1);
  std::vector<std::string> hosts(12);
  hosts[0] = "a";
  const auto found = find_missing_ranks(reports, hosts);
  CHECK(found.ranks.size() == 11);
  CHECK(found.clause == "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 3 more have not connected");
}

TEST_CASE("a report survives its line, and other lines are none") {
  auto report = busy(7, 2.5);
  report.why = "line one\nline two";
  const auto read = unpack_report(pack(report));
  REQUIRE(read);
  CHECK(read->operations == 7);
  CHECK(read->seconds == 2.5);
  CHECK(read->operation == "all_reduce");
  CHECK(read->why == "line one line two");
  CHECK_FALSE(read->exchange.is_exchange());
  const auto exchange = unpack_report(pack(exchanging({k_recv, 3, 9})));
  REQUIRE(exchange);
  CHECK(text_of(exchange->exchange) == "recv from rank 3 (tag 9)");
  for (const char* line : {"", "x", "9 1 1 a b", "-1 1 1 a b", "1"}) CHECK_FALSE(unpack_report(line));
}
