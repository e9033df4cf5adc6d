// SPDX-License-Identifier: MIT
// The order of a step's nodes, as Slurm 22.05 has it in real steps.
#include <catch2/catch.hpp>

#include "core/slurm/step_order.hpp"

using namespace hpcml;
using Names = std::vector<std::string>;
using Counts = std::vector<unsigned>;

namespace {

/// A job of three components on node006, node001 and node003, node002; this task on `host`, number `node`.
util::EnvSnapshot task_of_components(const std::string& nodes, const std::string& counts,
                                     const std::string& tasks, const std::string& node,
                                     const std::string& host) {
  return util::EnvSnapshot({{"SLURM_HET_SIZE", "3"},
                            {"SLURM_JOB_ID", "7"},
                            {"SLURM_JOB_ID_HET_GROUP_0", "7"},
                            {"SLURM_JOB_NODELIST_HET_GROUP_0", "node006"},
                            {"SLURM_JOB_NODELIST_HET_GROUP_1", "node[001,003]"},
                            {"SLURM_JOB_NODELIST_HET_GROUP_2", "node002"},
                            {"SLURM_STEP_NODELIST", nodes},
                            {"SLURM_STEP_TASKS_PER_NODE", counts},
                            {"SLURM_STEP_NUM_TASKS", tasks},
                            {"SLURM_PROCID", "2"},
                            {"SLURM_LOCALID", "0"},
                            {"SLURM_NODEID", node},
                            {"SLURMD_NODENAME", host}});
}

} // namespace

TEST_CASE("the nodes of a step over components are numbered component by component, with their tasks") {
  struct Row {
    const char* nodes;
    const char* counts;
    const char* tasks;
    const char* node;
    const char* host;
    Names expected;
    Counts tasks_per_node;
  };
  const Row rows[] = {
      {"node[001,003,006]", "3,1,2", "6", "1", "node001", {"node006", "node001", "node003"}, {2, 3, 1}},
      {"node[001-003]", "3(x2),1", "7", "2", "node002", {"node001", "node003", "node002"}, {3, 1, 3}},
      {"node[002,006]", "3,2", "5", "1", "node002", {"node006", "node002"}, {2, 3}},
      {"node003", "3", "3", "0", "node003", {"node003"}, {3}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.nodes);
    const auto layout =
        slurm::read_step_layout(task_of_components(row.nodes, row.counts, row.tasks, row.node, row.host));
    REQUIRE(layout);
    CHECK(layout->nodes == row.expected);
    CHECK(layout->tasks_per_node == row.tasks_per_node);
    CHECK(layout->numbered);
    CHECK(layout->host == row.host);
  }
  // What another job has left in the environment of one that was submitted from it.
  auto env = task_of_components("node[001-002]", "2,1", "3", "1", "node002");
  env.set("SLURM_JOB_ID", "8");
  const auto layout = slurm::read_step_layout(env);
  REQUIRE(layout);
  CHECK(layout->nodes == Names{"node001", "node002"});
}

TEST_CASE("a list of nodes that is not in the order of their numbers is known as such") {
  // srun -n2 -w node003 A : -n3 -w node001,node002 B in a plain job
  auto env = task_of_components("node[001-003]", "2,1,2", "5", "0", "node003");
  env.unset("SLURM_HET_SIZE");
  auto layout = slurm::read_step_layout(env);
  REQUIRE(layout);
  CHECK_FALSE(layout->numbered);
  CHECK(layout->local_world_size == 2);
  CHECK_FALSE(slurm::node_of_first_rank(env, *layout, ""));
  const auto nodes = slurm::parse_step_nodes("Job step layout:\n\t5 tasks, 3 nodes (node[003,001-002])\n\n"
                                             "\tNode 0 (node003), 2 task(s): 0 1 \n"
                                             "\tNode 1 (node001), 2 task(s): 0 1 \n"
                                             "\tNode 2 (node002), 1 task(s): 2 \n");
  REQUIRE(nodes);
  CHECK(nodes->first == "node003");
  REQUIRE(slurm::take_step_nodes(*nodes, *layout));
  CHECK(layout->nodes == Names{"node003", "node001", "node002"});
  CHECK(layout->tasks_per_node == Counts{2, 2, 1});
  layout->node_rank = 1;
  CHECK_FALSE(slurm::take_step_nodes(*nodes, *layout));
}

TEST_CASE("the node of task 0 is read from Slurm's layout of the step") {
  const auto nodes = slurm::parse_step_nodes("Job step layout:\n\t3 tasks, 2 nodes (node[001,003])\n\n"
                                             "\tNode 0 (node001), 1 task(s): 1 \n"
                                             "\tNode 1 (node003), 2 task(s): 0 2 \n\n");
  REQUIRE(nodes);
  CHECK(nodes->first == "node003");
  CHECK(nodes->tasks == Counts{1, 2});
  for (const auto* text :
       {"", "Node 0 (node001), 2 task(s): 10 20", "Node 0 node001", "Node 0 (a), x task(s): 0"})
    CHECK_FALSE(slurm::parse_step_nodes(text));
}

TEST_CASE("a file of hosts is read as srun reads it") {
  CHECK(slurm::read_host_file("n2\nn1\nn2\n") == Names{"n2", "n1", "n2"});
  CHECK(slurm::read_host_file("# two nodes\nn2*2 # here\n\nn1\n") == Names{"n2", "n2", "n1"});
  CHECK(slurm::read_host_file("n2,n1,n2") == Names{"n2", "n1", "n2"});
  CHECK(slurm::read_host_file("n[3,1-2],n3\n") == Names{"n3", "n1", "n2", "n3"});
  for (const auto* text : {"", "# nothing\n", "n[1-\n", "n1*x\n", "n1*99999999999\n"})
    CHECK(slurm::read_host_file(text).empty());
}

TEST_CASE("of tasks on listed nodes each knows where the first is, or that it cannot know") {
  // --distribution=arbitrary on node003,node001,node003,node002
  struct Row {
    const char* name;
    const char* rank;
    const char* local;
    const char* node; ///< and its place among node001, node002, node003
    const char* tasks;
    const char* hosts;
    const char* first; ///< "": unknown
  };
  const Row rows[] = {
      {"task 0 itself", "0", "0", "2", "0,2", "", "node003"},
      {"beside task 0", "2", "1", "2", "0,2", "", "node003"},
      {"elsewhere, without a file", "1", "0", "0", "1", "", ""},
      {"with the step's file", "1", "0", "0", "1", "node003\nnode001\nnode003\nnode002\n", "node003"},
      {"with a longer file", "1", "0", "0", "1", "node003\nnode001\nnode003\nnode002\nnode002\n", "node003"},
      {"with a file of other counts", "1", "0", "0", "1", "node002\nnode001\nnode002\nnode003\n", ""},
      {"with a file that has it elsewhere", "1", "0", "0", "1", "node001\nnode003\nnode003\nnode002\n", ""},
      {"with a shorter file", "1", "0", "0", "1", "node003\nnode001\n", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const util::EnvSnapshot env({{"SLURM_DISTRIBUTION", "arbitrary"},
                                 {"SLURM_STEP_NODELIST", "node[001-003]"},
                                 {"SLURM_STEP_TASKS_PER_NODE", "1(x2),2"},
                                 {"SLURM_STEP_NUM_TASKS", "4"},
                                 {"SLURM_PROCID", row.rank},
                                 {"SLURM_LOCALID", row.local},
                                 {"SLURM_NODEID", row.node},
                                 {"SLURM_GTIDS", row.tasks}});
    const auto layout = slurm::read_step_layout(env);
    REQUIRE(layout);
    CHECK(slurm::node_of_first_rank(env, *layout, row.hosts).value_or("") == row.first);
  }
}
