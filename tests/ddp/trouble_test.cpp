// SPDX-License-Identifier: MIT
// Who is to blame, from what the ranks say of themselves.
#include <catch2/catch.hpp>

#include "ddp/trouble.hpp"

using namespace hpcml::ddp;
using Catch::Contains;

namespace {

RankReport in_operation(std::int64_t operations, double seconds = 1) {
  return {RankReport::State::waiting, operations, seconds, "all_reduce", ""};
}

RankReport busy(std::int64_t operations, double seconds) {
  return {RankReport::State::computing, operations, seconds, "all_reduce", ""};
}

const std::vector<std::string> k_hosts = {"n1", "n1", "n2", "n2"};

} // namespace

TEST_CASE("a rank that does not answer is gone; its host is named") {
  const auto blame = find_blame({in_operation(7), std::nullopt, in_operation(7), in_operation(7)}, k_hosts);
  CHECK(blame.ranks == std::vector<int>{1});
  CHECK(blame.clause == "rank 1 (n1) is gone: no answer any more");
}

TEST_CASE("a rank that failed by itself comes before those that are silent") {
  auto failed = busy(3, 1);
  failed.state = RankReport::State::failed;
  failed.why = "no such file";
  const auto blame = find_blame({in_operation(7), std::nullopt, failed, in_operation(7)}, k_hosts);
  CHECK(blame.ranks == std::vector<int>{2});
  CHECK(blame.clause == "rank 2 (n2) failed: no such file");
}

TEST_CASE("of ranks that all live those are to blame that have begun fewer operations") {
  const auto slow = find_blame({in_operation(8), busy(7, 12.4), in_operation(8), busy(7, 3)}, k_hosts);
  CHECK(slow.ranks == std::vector<int>{1, 3});
  CHECK(slow.clause ==
        "ranks 1 and 3 (n1, n2) have not come to all_reduce, operation 8, but are busy elsewhere for 12 s");
  const auto other =
      find_blame({in_operation(8), in_operation(6), in_operation(8), in_operation(8)}, k_hosts);
  CHECK(other.ranks == std::vector<int>{1});
  CHECK_THAT(other.clause, Contains("but is in all_reduce, operation 6"));
}

TEST_CASE("nobody is blamed where all take part, and who has left is") {
  CHECK(find_blame({in_operation(8), in_operation(8)}, {"a", "b"}).ranks.empty());
  auto left = busy(5, 1);
  left.state = RankReport::State::left;
  CHECK(find_blame({in_operation(8), left}, {"a", "b"}).clause == "rank 1 (b) has left after operation 5");
}

TEST_CASE("ranks of which nothing was heard have not come; many are counted") {
  std::vector<std::optional<RankReport>> reports(12);
  reports[0] = in_operation(1);
  std::vector<std::string> hosts(12);
  hosts[0] = "a";
  const auto blame = find_missing(reports, hosts);
  CHECK(blame.ranks.size() == 11);
  CHECK(blame.clause == "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 3 more have not come");
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
  for (const char* line : {"", "x", "9 1 1 a b", "-1 1 1 a b", "1"}) CHECK_FALSE(unpack_report(line));
}
