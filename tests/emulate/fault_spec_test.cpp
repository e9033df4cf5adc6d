// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "core/util/text.hpp"
#include "emulate/fault_spec.hpp"
#include "emulate/link_speed.hpp"

using namespace hpcml;
using namespace hpcml::emulate;
using std::chrono::seconds;

namespace {

FaultList parse(const std::vector<std::string>& texts, unsigned nodes = 3) {
  FaultValidationContext cluster;
  cluster.nodes = nodes;
  return parse_faults(texts, cluster);
}

/// What is wrong, one a line.
std::string complaints(const FaultList& list) {
  std::string text;
  for (const auto& error : list.errors) text += error.what + "\n";
  return text;
}

} // namespace

TEST_CASE("a fault is read with its node and its times") {
  const auto list = parse({"node-down:2@1m30s", "link-cut:3@10s..2m", "slurmctld-restart@0s"});
  REQUIRE(complaints(list).empty());
  REQUIRE(list.faults.size() == 3);
  CHECK(list.faults[0].kind == FaultKind::node_down);
  CHECK(list.faults[0].node == 2);
  CHECK(list.faults[0].from == seconds(90));
  CHECK_FALSE(list.faults[0].until);
  CHECK(list.faults[1].kind == FaultKind::link_cut);
  CHECK(list.faults[1].from == seconds(10));
  CHECK(list.faults[1].until == seconds(120));
  CHECK(list.faults[2].kind == FaultKind::controller_restart);
  CHECK(list.faults[2].node == 0);
}

TEST_CASE("a slow link says how much slower, a preemption how") {
  const auto list = parse({"slow-link:3:10x", "slow-link:2:500x@1m..2m", "preempt:cancel@40s..45s"});
  REQUIRE(complaints(list).empty());
  CHECK(list.faults[0].factor == 10);
  CHECK(list.faults[0].from == seconds(0));
  CHECK_FALSE(list.faults[0].until);
  CHECK(list.faults[1].factor == 500);
  CHECK(list.faults[1].until == seconds(120));
  CHECK(list.faults[2].mode == PreemptionMode::cancel);
  CHECK(list.faults[2].until == seconds(45));
  const auto requeued = parse({"preempt@40s"}).faults.at(0);
  CHECK(requeued.mode == PreemptionMode::requeue);
  CHECK(requeued.until == seconds(70)); // the nodes are given back, or nothing could be requeued
  CHECK(describe_link_speed(10) == "1 Gbit/s");
  CHECK(describe_link_speed(1000) == "10 Mbit/s");
  CHECK(describe_link_speed(10000) == "1 Mbit/s");
}

TEST_CASE("QoS decide about a preemption where that is said, and what is preempted may have a grace") {
  const auto list = parse({"preempt:qos@40s"});
  REQUIRE(complaints(list).empty());
  CHECK(list.faults[0].by_qos);
  CHECK(list.faults[0].mode == PreemptionMode::requeue);
  CHECK(list.faults[0].grace == seconds(0));
  CHECK(needs_accounting(list.faults));
  const auto cancelled = parse({"preempt:qos-cancel:20s@1m"}).faults.at(0);
  CHECK(cancelled.by_qos);
  CHECK(cancelled.mode == PreemptionMode::cancel);
  CHECK(cancelled.grace == seconds(20));
  CHECK(cancelled.until == seconds(60 + 20 + 30 + 30)); // Slurm looks twice a minute whether a grace is over
  CHECK(parse({"preempt:qos-suspend@1s"}).faults.at(0).mode == PreemptionMode::suspend);
  const auto by_partition = parse({"preempt:1m@40s"}).faults;
  CHECK_FALSE(by_partition.at(0).by_qos);
  CHECK_FALSE(needs_accounting(by_partition));
  CHECK(by_partition[0].grace == seconds(60));
  FaultValidationContext loopback;
  loopback.nodes = 2;
  loopback.networks = false;
  CHECK(complaints(parse_faults({"preempt:qos@40s"}, loopback)) ==
        "--fault preempt:qos@40s: preemption by QoS needs slurmdbd, which does not run with "
        "--shared-network\n");
  CHECK(complaints(parse_faults({"preempt@40s"}, loopback)).empty());
}

TEST_CASE("a job that is to run out of memory has its memory limited") {
  const auto faults = parse({"oom:2@30s", "node-down:1@1m"}).faults;
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].kind == FaultKind::out_of_memory);
  CHECK(faults[0].node == 2);
  CHECK(faults[0].from == seconds(30));
  CHECK(needs_memory_limits(faults));
  CHECK_FALSE(needs_memory_limits({faults[1]}));
}

TEST_CASE("every fault that help shows can be asked for") {
  for (const auto& form : util::split(describe_faults(), ',')) {
    INFO(form);
    CHECK(complaints(parse({std::string(util::trim(form))})).empty());
  }
}

TEST_CASE("what is wrong with a fault is said, and of all of them at once") {
  struct Case {
    const char* text;
    const char* expected;
  };
  const Case cases[] = {
      {"node-dwn:2@3s", "unknown fault 'node-dwn'; did you mean node-down?"},
      {"", "unknown fault ''"},
      {"node-down@3s", "node-down needs the number of a node, the first of which is 1"},
      {"node-down:2:3@3s", "node-down accepts only one node number before the time"},
      {"node-down:0@3s", "'0' is not a valid node number (the first node is 1)"},
      {"node-down:nid1@3s", "'nid1' is not a valid node number"},
      {"node-down:4@3s", "node 4 does not exist: the cluster has 3 nodes"},
      {"node-down:2", "node-down needs a start time such as @30s"},
      {"node-down:2@", "node-down needs a start time such as @30s"},
      {"node-down:2@30", "'30' is not a valid time"},
      {"node-down:2@s", "'s' is not a valid time"},
      {"node-down:2@1s1m", "'1s1m' is not a valid time"},
      {"node-down:2@-1s", "'-1s' is not a valid time"},
      {"node-down:2@999999999999999999999s", "is not a valid time"},
      {"node-down:2@200h", "'200h' is not a valid time"},
      {"node-down:2@3s..9s", "node-down has no end time, because a node that is down stays down"},
      {"link-cut:2@9s..3s", "the end of the fault must be after its start"},
      {"link-cut:2@9s..9s", "the end of the fault must be after its start"},
      {"link-cut:2@9s..", "'' is not a valid time"},
      {"slurmctld-restart:1@3s", "slurmctld-restart affects the whole cluster and accepts no node number"},
      {"oom@3s", "oom needs the number of a node"},
      {"oom:2", "oom needs a start time such as @30s"},
      {"oom:2@3s..9s", "oom has no end time, because a killed process stays dead"},
      {"slow-link:2", "slow-link needs a factor after the node number"},
      {"slow-link:2:10", "'10' must be a factor"},
      {"slow-link:2:1x", "'1x' must be a factor"},
      {"slow-link:2:x", "'x' must be a factor"},
      {"preempt", "preempt needs a start time such as @30s"},
      {"preempt:kindly@3s", "unknown form of preemption 'kindly'"},
      {"preempt:qosy@3s", "unknown form of preemption 'qosy'"},
      {"preempt:qos-@3s", "unknown form of preemption 'qos-'"},
      {"preempt:qos-kindly@3s", "unknown form of preemption 'qos-kindly'"},
      {"preempt:cancel:soon@3s", "unknown form of preemption 'soon'"},
      {"preempt:20s:cancel@3s", "unknown form of preemption '20s'"},
  };
  std::vector<std::string> texts;
  for (const auto& test_case : cases) texts.emplace_back(test_case.text);
  const auto list = parse(texts);
  CHECK(list.faults.empty());
  REQUIRE(list.errors.size() == std::size(cases));
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    CAPTURE(cases[i].text, list.errors[i].what, list.errors[i].hint);
    CHECK(list.errors[i].what.starts_with(std::string("--fault ") + cases[i].text + ": "));
    CHECK(list.errors[i].what.find(cases[i].expected) != std::string::npos);
    CHECK_FALSE(list.errors[i].hint.empty());
  }
}

TEST_CASE("faults that would undo each other are refused, also beside one that is wrong") {
  CHECK(complaints(parse({"node-down:2@3s", "link-cut:2@1s..2s"})) ==
        "--fault node-down:2@3s and --fault link-cut:2@1s..2s affect the same node\n");
  CHECK(complaints(parse({"slurmctld-restart@3s", "slurmctld-restart@9s", "link-cut:9@1s"})) ==
        "--fault link-cut:9@1s: node 9 does not exist: the cluster has 3 nodes\n--fault slurmctld-restart@3s "
        "and --fault slurmctld-restart@9s are of the same kind\n");
  CHECK(complaints(parse({"node-down:1@3s", "node-down:2@3s"})).empty());
}

TEST_CASE("a preemption that begins or ends while slurmctld is away is refused, with both") {
  CHECK(complaints(parse({"preempt@40s", "slurmctld-restart@20s..40s"})) ==
        "--fault preempt@40s and --fault slurmctld-restart@20s..40s: slurmctld is down when the preempting "
        "job would be submitted\n");
  CHECK(complaints(parse({"slurmctld-restart@1m..2m", "preempt:cancel@40s..90s"})) ==
        "--fault preempt:cancel@40s..90s and --fault slurmctld-restart@1m..2m: slurmctld is down when the "
        "preempting job would end\n");
  CHECK_FALSE(parse({"preempt@40s..50s", "slurmctld-restart@40s"}).errors.empty());
  CHECK(complaints(parse({"preempt@40s..50s", "slurmctld-restart@41s..49s"})).empty());
  CHECK(complaints(parse({"preempt@40s..50s", "slurmctld-restart@20s"})).empty());
}

TEST_CASE("how jobs are preempted is called by one set of words") {
  CHECK(std::string(preemption_mode_names(PreemptionMode::suspend).slurm) == "SUSPEND,GANG");
  CHECK(std::string(preemption_mode_names(PreemptionMode::cancel).done) == "cancelled");
  CHECK(parse({"preempt:requeue@4s"}).faults.at(0).mode == PreemptionMode::requeue);
  CHECK(parse({"preempt:kindly@4s"}).errors.at(0).hint ==
        "use one of preempt@40s (they are requeued), preempt:cancel@40s (they are cancelled), "
        "preempt:suspend@40s (they are suspended), preempt:qos@40s or preempt:qos-cancel@40s (by QoS), "
        "preempt:cancel:20s@40s (20 s after their SIGTERM)");
}

TEST_CASE("faults need nodes that run, and links to cut") {
  FaultValidationContext cluster;
  cluster.whole_site = true;
  CHECK(complaints(parse_faults({"node-down:2@3s"}, cluster)) ==
        "--fault has no effect with --whole-site, which runs no nodes\n");
  CHECK(parse_faults({}, cluster).errors.empty());
  cluster = {2, false, false};
  CHECK(complaints(parse_faults({"node-down:1@3s", "link-cut:2@3s"}, cluster)) ==
        "--fault link-cut:2@3s: the nodes share one loopback network (--shared-network), so hpcml cannot cut "
        "or slow their links\n");
}

TEST_CASE(
    "Slurm gives up a silent node soon where one dies or stays cut off, but none whose cut ends in time") {
  CHECK(choose_node_timeout(parse({}).faults) == 600);
  CHECK(choose_node_timeout(parse({"link-cut:2@1s..9s"}).faults) == 600);
  const auto soon = choose_node_timeout(parse({"node-down:2@3s"}).faults);
  CHECK(soon <= 10);
  CHECK(choose_node_timeout(parse({"node-down:2@3s", "link-cut:1@1s..21s"}).faults) == soon + 20);
  CHECK(choose_node_timeout(parse({"link-cut:2@1s"}).faults) == soon);
  CHECK(choose_node_timeout(parse({"link-cut:2@1s..5m1s"}).faults) == soon);
  CHECK(choose_node_timeout(parse({"link-cut:2@1s..5m"}).faults) == 600);
  CHECK(choose_node_timeout(parse({"link-cut:2@1s", "link-cut:1@1s..21s"}).faults) == soon + 20);
}

TEST_CASE("times are said in seconds and minutes") {
  CHECK(describe_seconds(seconds(0)) == "0 s");
  CHECK(describe_seconds(seconds(59)) == "59 s");
  CHECK(describe_seconds(seconds(120)) == "2 min");
  CHECK(describe_seconds(seconds(150)) == "2 min 30 s");
}
