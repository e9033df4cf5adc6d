// SPDX-License-Identifier: MIT
// The parts of the coordinator alone: nodes of a run, the wait for them, restarts, the cause of a stop.
#include <catch2/catch.hpp>

#include "run/agent/join_wait.hpp"
#include "run/agent/restart_budget.hpp"
#include "run/agent/stop_cause.hpp"

using namespace hpcml;
using namespace hpcml::agent;
using std::chrono::seconds;
using Hosts = std::vector<std::string>;

namespace {

constexpr NodeMembership::Time at(int time) { return NodeMembership::Time(seconds(time)); }

void add(NodeMembership& nodes, AgentId id, std::optional<unsigned> node_rank = {}, bool leads = false) {
  nodes.add(id, {"job", "run", "node" + std::to_string(id), node_rank, 2, leads}, at(0));
}

/// A run of all its nodes, of which node 0 leads, in an attempt.
NodeMembership running(unsigned min, unsigned max) {
  NodeMembership nodes({min, max, {}});
  for (unsigned id = 0; id < max; ++id) add(nodes, id, id, id == 0);
  nodes.begin_attempt();
  return nodes;
}

failures::RankFailure failure(const std::string& message, int code, std::int64_t reported_at = 0) {
  failures::RankFailure made;
  made.message = message;
  made.status = code << 8;
  made.reported_at = reported_at;
  return made;
}

} // namespace

TEST_CASE("nodes are ordered by leader, node rank and arrival") {
  NodeMembership nodes({1, 3, {}});
  add(nodes, 7), add(nodes, 5), add(nodes, 9, 1), add(nodes, 8, 2, true);
  CHECK(nodes.in_order() == std::vector<AgentId>{8, 9, 7, 5});
  nodes.begin_attempt(); // without the one that came last
  CHECK(nodes.world() == std::vector<NodeMember>{{"node8", 2}, {"node9", 2}, {"node7", 2}});
  CHECK_FALSE(nodes.has_room());
  CHECK(nodes.newcomers() == Hosts{"node5"});
  nodes.remove(9);
  CHECK(nodes.has_room());
  CHECK(nodes.name_of(7) == "node7 (node 1 of 2)");
  CHECK(nodes.name_of(5) == "node5");
}

TEST_CASE("a node that takes another's place is rejected") {
  NodeMembership nodes({2, 2, {}});
  add(nodes, 0, 0, true);
  CHECK(nodes.conflict({"", "", "x", 1U, 1, true}) == "already has a first node: node0");
  CHECK(nodes.conflict({"", "", "x", 0U, 1, false}) == "already has node 0: node0");
  CHECK(nodes.conflict({"", "", "x", 1U, 1, false}).empty());
  add(nodes, 1, 1);
  CHECK(nodes.conflict({"", "", "x", {}, 1, false}) == "already has all 2 nodes");
}

TEST_CASE("ranks are quiet when every agent with ranks reports it") {
  auto nodes = running(2, 2);
  nodes.at(0).quiet = true;
  CHECK_FALSE(nodes.every_running(&JoinedAgent::quiet));
  nodes.at(1).ended = true;
  CHECK(nodes.every_running(&JoinedAgent::quiet));
  CHECK_FALSE(nodes.all_ended());
  nodes.at(0).ended = nodes.at(0).good = true;
  CHECK_FALSE(nodes.every_running(&JoinedAgent::quiet));
  CHECK(nodes.all_ended());
  CHECK_FALSE(nodes.all_succeeded());
  CHECK(nodes.newcomers().empty());
}

TEST_CASE("an agent that reads stacks may be silent") {
  auto nodes = running(2, 2);
  nodes.at(0).last_received = at(20);
  CHECK_FALSE(nodes.find_silent(at(29), seconds(30), false));
  CHECK(nodes.find_silent(at(30), seconds(30), false) == AgentId{1});
  CHECK_FALSE(nodes.find_silent(at(30), seconds(30), true));
  nodes.at(1).looked = true;
  CHECK(nodes.find_silent(at(30), seconds(30), true) == AgentId{1});
  nodes.restart_timeouts(at(30));
  CHECK_FALSE(nodes.find_silent(at(59), seconds(30), true));
}

TEST_CASE("lost nodes are reported unless all others are lost") {
  auto nodes = running(3, 3);
  nodes.note_lost("node1");
  nodes.remove(1);
  CHECK(nodes.lost_hosts() == Hosts{"node1"});
  nodes.note_lost("node2");
  CHECK(nodes.lost_hosts() == Hosts{"node1", "node2"});
  nodes.remove(2);
  CHECK(nodes.lost_hosts().empty());
}

TEST_CASE("missing nodes are described by host, number or count") {
  NodeMembership named({3, 4, {"node0", "node1", "node2"}});
  add(named, 1);
  CHECK(named.describe_missing(" after 20 s") ==
        "2 of at least 3 nodes have not joined after 20 s: node[0,2]");
  NodeMembership numbered({2, 2, {}});
  add(numbered, 0, 0);
  CHECK(numbered.describe_missing("") == "1 of 2 nodes has not joined: node 1");
  NodeMembership counted({2, 2, {}});
  add(counted, 0);
  CHECK(counted.describe_missing("") == "1 of 2 nodes has not joined");
}

TEST_CASE("a run waits for more nodes than the least number") {
  NodeMembership nodes({1, 2, {}});
  JoinWait wait(seconds(600), seconds(30), at(0));
  CHECK_FALSE(wait.may_begin(nodes, true, at(5)));
  add(nodes, 0);
  CHECK_FALSE(wait.may_begin(nodes, true, at(10)));
  CHECK(wait.may_begin(nodes, false, at(10)));
  wait.restart_timeouts(at(30));
  CHECK_FALSE(wait.may_begin(nodes, true, at(59)));
  CHECK(wait.may_begin(nodes, true, at(60)));
  add(nodes, 1);
  CHECK(wait.may_begin(nodes, true, at(31)));
}

TEST_CASE("a wait for nodes is reported ever less and ends") {
  JoinWait wait(seconds(600), seconds(30), at(100));
  CHECK_FALSE(wait.report_due(at(119)));
  CHECK(wait.report_due(at(121)) == seconds(21));
  CHECK_FALSE(wait.report_due(at(159)));
  CHECK(wait.report_due(at(160)) == seconds(60));
  CHECK_FALSE(wait.is_over(at(699)));
  CHECK(wait.is_over(at(700)));
  wait.begin(at(700));
  CHECK(wait.report_due(at(720)) == seconds(20));
}

TEST_CASE("failures use up restarts and nodes that join do not") {
  RestartBudget restarts(1);
  restarts.begin_attempt(at(0));
  restarts.plan(Restart::at_once, at(1));
  CHECK((restarts.is_pending() && restarts.used() == 0));
  restarts.plan(restarts.count_failure(), at(1));
  CHECK((restarts.is_pending() && restarts.used() == 1 && restarts.pause() == seconds(0)));
  CHECK_FALSE(restarts.is_pausing(at(1)));
  restarts.plan(Restart::after_pause, at(2));
  restarts.begin_pause(at(2));
  CHECK((restarts.is_pausing(at(2)) && !restarts.is_pausing(at(3))));
  restarts.cancel();
  CHECK_FALSE(restarts.is_pending());
  restarts.plan(restarts.count_failure(), at(3));
  CHECK((!restarts.is_pending() && restarts.used() == 1));
}

TEST_CASE("a cause replaces the first failure until the report") {
  const std::string closed = "RuntimeError: [pair.cc:525] Connection closed by peer [127.0.0.1]:43543";
  StopCause cause;
  cause.set_failure(failure(closed, 1));
  CHECK_FALSE(cause.is_reported());
  CHECK_FALSE(cause.add_failure(failure(closed, 4)));
  CHECK(cause.stop_reason().failure->status == 1 << 8);
  auto killed = failure("ValueError: x", 137, 100); // by our own signal
  killed.cut_short = true;
  CHECK_FALSE(cause.add_failure(killed)); // an earlier one may follow
  CHECK((cause.code() == 1 && cause.stop_reason().failure->message == "ValueError: x"));
  cause.set_reported();
  CHECK_FALSE(cause.add_failure(failure("ValueError: y", 5, 99)));
  CHECK(cause.code() == 1);
}

TEST_CASE("a failure that nothing precedes is reported at once") {
  StopCause cause;
  cause.set_failure(failure("ValueError: x", 3));
  CHECK((cause.is_reported() && cause.code() == 3));
  cause.set_reason("node1 joined");
  cause.add_stacks({});
  cause.clear();
  CHECK((!cause.has_failure() && cause.reason().empty() && cause.stacks().empty()));
  CHECK(cause.code() == 3); // until there is another cause
}
