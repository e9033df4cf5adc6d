// SPDX-License-Identifier: MIT
// Which nodes a job leaves out at its next start: those found bad, as far as it can spare them.
#include <catch2/catch.hpp>

#include "core/slurm/node_exclusion.hpp"

using namespace hpcml;

namespace {

constexpr const char* k_job =
    "JobId=7 JobName=a b Partition=main ReqNodeList=(null) ExcNodeList=n[1,4] NodeList=n[2-3] NumNodes=2-2 "
    "Command=/x\n";
constexpr const char* k_nodes = "n1 idle\nn2 mix\nn3 down*\nn4 idle\nn5 drng\nn6 alloc\nn7 idle~\nn2 mix\n";

} // namespace

TEST_CASE("what Slurm says of a job and its partition's nodes is what may be left out") {
  CHECK(slurm::partition_of(k_job) == "main");
  const auto choice = slurm::parse_choice(k_job, k_nodes);
  REQUIRE(choice);
  CHECK(choice->excluded == std::vector<std::string>{"n1", "n4"});
  CHECK(choice->required.empty());
  CHECK(choice->needed == 2);
  CHECK(choice->nodes == std::vector<std::string>{"n1", "n2", "n3", "n4", "n5", "n6", "n7"});
  CHECK(choice->usable == std::vector<std::string>{"n1", "n2", "n4", "n6", "n7"});
  CHECK_FALSE(slurm::parse_choice("slurm_load_jobs error: Invalid job id specified", k_nodes));
}

TEST_CASE("bad nodes are added to those that the job leaves out, each said once with its reason") {
  const auto choice = slurm::parse_choice(k_job, k_nodes).value();
  const auto left = slurm::leave_out({{"n3", "its agent died"}, {"n4", "it failed"}}, choice);
  CHECK(left.exclude == std::vector<std::string>{"n1", "n4", "n3"});
  CHECK(left.words == std::vector<std::string>{"node n3 is excluded from the next start: its agent died"});
  CHECK(slurm::leave_out({{"n4", "it failed"}}, choice).exclude.empty());
  CHECK(slurm::leave_out({{"n3.cluster.org", "it failed"}}, choice).exclude.back() == "n3");
}

TEST_CASE("a job keeps as many nodes as it needs, those that it names, and hears of what is no node of its") {
  slurm::NodeCandidates choice{{}, {"n1"}, {"n1", "n2", "n3"}, {"n1", "n2"}, 2};
  const auto left = slurm::leave_out({{"n1", "a"}, {"n2", "b"}, {"n3", "c"}, {"x9", "d"}}, choice);
  CHECK(left.exclude == std::vector<std::string>{"n2"});
  CHECK(left.words ==
        std::vector<std::string>{
            "node n1 is not excluded from the next start, although it may be faulty (a): the job requests it "
            "with --nodelist",
            "node n2 is excluded from the next start: b",
            "node n3 is not excluded from the next start, although it may be faulty (c): the job needs 2 "
            "nodes, and its partition has no other",
            "node x9 is not excluded from the next start, although it may be faulty (d): the job's partition "
            "has no node of that name",
            "Slurm starts the job again when 2 nodes of its partition can run it (now 1: the others are "
            "excluded or down)"});
}

TEST_CASE("a file of bad nodes is read whatever stands in it, each node once") {
  using node_health::BadNode;
  CHECK(node_health::parse_bad_nodes("n1 its agent died\n\n  \nn2\nn1 again\nn3  x y \nhalf") ==
        std::vector<BadNode>{{"n1", "its agent died"}, {"n2", ""}, {"n3", "x y"}, {"half", ""}});
  CHECK(node_health::render_bad_node({"n1", "two\nlines"}) == "n1 two lines\n");
}
