// SPDX-License-Identifier: MIT
// The layout of a step from real variables of ten Slurm versions, and from contradictory ones.
#include <catch2/catch.hpp>

#include "core/slurm/step_env.hpp"
#include "core/util/text.hpp"

using namespace hpcml;

namespace {

/// What a task of a real step had. Node names of one-node steps are placeholders. SLURM_GTIDS, which the
/// reader does not use, is the witness: it lists the ranks of the task's node.
struct Task {
  const char* version;
  const char* request;
  const char* nodes;
  const char* tasks_per_node;
  const char* world_size;
  const char* rank;
  const char* local_rank;
  const char* node_rank;
  const char* node_name;
  const char* ranks_of_node;
};

const Task k_tasks[] = {
    {"20.11", "N2n3", "nid[001-002]", "2,1", "3", "0", "0", "0", "nid001", "0,1"},
    {"20.11", "N2n3", "nid[001-002]", "2,1", "3", "1", "1", "0", "nid001", "0,1"},
    {"20.11", "N2n3", "nid[001-002]", "2,1", "3", "2", "0", "1", "nid002", "2"},
    {"23.02", "N2n3", "nid[001-002]", "2,1", "3", "0", "0", "0", "nid001", "0,1"},
    {"23.02", "N2n3", "nid[001-002]", "2,1", "3", "1", "1", "0", "nid001", "0,1"},
    {"23.02", "N2n3", "nid[001-002]", "2,1", "3", "2", "0", "1", "nid002", "2"},
    {"26.05", "N2n3", "nid[001-002]", "2,1", "3", "0", "0", "0", "nid001", "0,1"},
    {"26.05", "N2n3", "nid[001-002]", "2,1", "3", "1", "1", "0", "nid001", "0,1"},
    {"26.05", "N2n3", "nid[001-002]", "2,1", "3", "2", "0", "1", "nid002", "2"},
    {"21.08", "cons", "nid[001-002]", "1(x2)", "2", "0", "0", "0", "nid001", "0"},
    {"21.08", "cons", "nid[001-002]", "1(x2)", "2", "1", "0", "1", "nid002", "1"},
    {"25.05", "cons", "nid[002-003]", "1(x2)", "2", "0", "0", "0", "nid002", "0"},
    {"25.05", "cons", "nid[002-003]", "1(x2)", "2", "1", "0", "1", "nid003", "1"},
    {"20.11", "het", "nid[001-002]", "1,2", "3", "0", "0", "0", "nid001", "0"},
    {"20.11", "het", "nid[001-002]", "1,2", "3", "1", "0", "1", "nid002", "1,2"},
    {"20.11", "het", "nid[001-002]", "1,2", "3", "2", "1", "1", "nid002", "1,2"},
    {"22.05", "het", "nid[001-002]", "1,2", "3", "0", "0", "0", "nid001", "0"},
    {"22.05", "het", "nid[001-002]", "1,2", "3", "1", "0", "1", "nid002", "1,2"},
    {"22.05", "het", "nid[001-002]", "1,2", "3", "2", "1", "1", "nid002", "1,2"},
    {"24.05", "het", "nid[002-003]", "1,2", "3", "0", "0", "0", "nid002", "0"},
    {"24.05", "het", "nid[002-003]", "1,2", "3", "1", "0", "1", "nid003", "1,2"},
    {"24.05", "het", "nid[002-003]", "1,2", "3", "2", "1", "1", "nid003", "1,2"},
    {"24.11", "het", "nid[001-002]", "1,2", "3", "0", "0", "0", "nid001", "0"},
    {"24.11", "het", "nid[001-002]", "1,2", "3", "1", "0", "1", "nid002", "1,2"},
    {"24.11", "het", "nid[001-002]", "1,2", "3", "2", "1", "1", "nid002", "1,2"},
    {"23.11", "hint", "nid001", "2", "2", "0", "0", "0", "nid001", "0,1"},
    {"23.11", "hint", "nid001", "2", "2", "1", "1", "0", "nid001", "0,1"},
    {"20.11", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "0", "0", "0", "nid001", "0,1,2,3,4,5,6,7"},
    {"20.11", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "1", "1", "0", "nid001", "0,1,2,3,4,5,6,7"},
    {"20.11", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "8", "0", "1", "nid002",
     "8,9,10,11,12,13,14,15"},
    {"20.11", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "15", "7", "1", "nid002",
     "8,9,10,11,12,13,14,15"},
    {"22.05", "N2gpn8tpn8c7", "nid[002-003]", "8(x2)", "16", "0", "0", "0", "nid002", "0,1,2,3,4,5,6,7"},
    {"22.05", "N2gpn8tpn8c7", "nid[002-003]", "8(x2)", "16", "1", "1", "0", "nid002", "0,1,2,3,4,5,6,7"},
    {"22.05", "N2gpn8tpn8c7", "nid[002-003]", "8(x2)", "16", "8", "0", "1", "nid003",
     "8,9,10,11,12,13,14,15"},
    {"22.05", "N2gpn8tpn8c7", "nid[002-003]", "8(x2)", "16", "15", "7", "1", "nid003",
     "8,9,10,11,12,13,14,15"},
    {"23.11", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "0", "0", "0", "nid001", "0,1,2,3,4,5,6,7"},
    {"23.11", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "1", "1", "0", "nid001", "0,1,2,3,4,5,6,7"},
    {"23.11", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "8", "0", "1", "nid002",
     "8,9,10,11,12,13,14,15"},
    {"23.11", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "15", "7", "1", "nid002",
     "8,9,10,11,12,13,14,15"},
    {"26.05", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "0", "0", "0", "nid001", "0,1,2,3,4,5,6,7"},
    {"26.05", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "1", "1", "0", "nid001", "0,1,2,3,4,5,6,7"},
    {"26.05", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "8", "0", "1", "nid002",
     "8,9,10,11,12,13,14,15"},
    {"26.05", "N2gpn8tpn8c7", "nid[001-002]", "8(x2)", "16", "15", "7", "1", "nid002",
     "8,9,10,11,12,13,14,15"},
    {"23.11", "n4gpt1", "nid001", "4", "4", "0", "0", "0", "nid001", "0,1,2,3"},
    {"23.11", "n4gpt1", "nid001", "4", "4", "1", "1", "0", "nid001", "0,1,2,3"},
    {"23.11", "n4gpt1", "nid001", "4", "4", "2", "2", "0", "nid001", "0,1,2,3"},
    {"23.11", "n4gpt1", "nid001", "4", "4", "3", "3", "0", "nid001", "0,1,2,3"},
    {"24.11", "cpt_gpt", "nid001", "2", "2", "0", "0", "0", "nid001", "0,1"},
    {"24.11", "cpt_gpt", "nid001", "2", "2", "1", "1", "0", "nid001", "0,1"},
    {"21.08", "G4n4", "nid001", "4", "4", "0", "0", "0", "nid001", "0,1,2,3"},
    {"21.08", "G4n4", "nid001", "4", "4", "1", "1", "0", "nid001", "0,1,2,3"},
    {"21.08", "G4n4", "nid001", "4", "4", "2", "2", "0", "nid001", "0,1,2,3"},
    {"21.08", "G4n4", "nid001", "4", "4", "3", "3", "0", "nid001", "0,1,2,3"},
    {"25.11", "ntpg1", "nid001", "4", "4", "0", "0", "0", "nid001", "0,1,2,3"},
    {"25.11", "ntpg1", "nid001", "4", "4", "1", "1", "0", "nid001", "0,1,2,3"},
    {"25.11", "ntpg1", "nid001", "4", "4", "2", "2", "0", "nid001", "0,1,2,3"},
    {"25.11", "ntpg1", "nid001", "4", "4", "3", "3", "0", "nid001", "0,1,2,3"},
    {"20.11", "N2tpn4c7", "nid[001-002]", "4(x2)", "8", "0", "0", "0", "nid001", "0,1,2,3"},
    {"20.11", "N2tpn4c7", "nid[001-002]", "4(x2)", "8", "1", "1", "0", "nid001", "0,1,2,3"},
    {"20.11", "N2tpn4c7", "nid[001-002]", "4(x2)", "8", "4", "0", "1", "nid002", "4,5,6,7"},
    {"20.11", "N2tpn4c7", "nid[001-002]", "4(x2)", "8", "7", "3", "1", "nid002", "4,5,6,7"},
    {"26.05", "N2tpn4c7", "nid[001-002]", "4(x2)", "8", "0", "0", "0", "nid001", "0,1,2,3"},
    {"26.05", "N2tpn4c7", "nid[001-002]", "4(x2)", "8", "1", "1", "0", "nid001", "0,1,2,3"},
    {"26.05", "N2tpn4c7", "nid[001-002]", "4(x2)", "8", "4", "0", "1", "nid002", "4,5,6,7"},
    {"26.05", "N2tpn4c7", "nid[001-002]", "4(x2)", "8", "7", "3", "1", "nid002", "4,5,6,7"},
    {"24.05", "tpt", "nid001", "2", "2", "0", "0", "0", "nid001", "0,1"},
    {"24.05", "tpt", "nid001", "2", "2", "1", "1", "0", "nid001", "0,1"},
    {"22.05", "excl", "nid001", "1", "1", "0", "0", "0", "nid001", "0"},
    {"25.05", "mem10G", "nid001", "1", "1", "0", "0", "0", "nid001", "0"},
};

util::EnvSnapshot environment_of(const Task& task) {
  return util::EnvSnapshot({{"SLURM_STEP_NODELIST", task.nodes},
                            {"SLURM_STEP_TASKS_PER_NODE", task.tasks_per_node},
                            {"SLURM_STEP_NUM_TASKS", task.world_size},
                            {"SLURM_PROCID", task.rank},
                            {"SLURM_LOCALID", task.local_rank},
                            {"SLURM_NODEID", task.node_rank},
                            {"SLURMD_NODENAME", task.node_name}});
}

util::EnvSnapshot uneven_step() {
  return environment_of({"", "", "nid[001-002]", "2,1", "3", "1", "1", "0", "nid001", ""});
}

} // namespace

TEST_CASE("the layout of real steps of ten Slurm versions is read right") {
  for (const auto& task : k_tasks) {
    CAPTURE(task.version, task.request, task.rank);
    const auto env = environment_of(task);
    REQUIRE(slurm::in_step_task(env));
    const auto layout = slurm::read_step_layout(env);
    REQUIRE(layout);
    const auto ranks = util::split(task.ranks_of_node, ',');
    CHECK(std::to_string(layout->rank) == task.rank);
    CHECK(layout->local_world_size == ranks.size());
    CHECK(ranks[layout->local_rank] == task.rank);
    CHECK(layout->nodes[layout->node_rank] == task.node_name);
    CHECK(std::to_string(layout->world_size) == task.world_size);
  }
}

TEST_CASE("a step counts more than its job") {
  auto env = uneven_step();
  env.set("SLURM_NTASKS", "64");
  env.set("SLURM_TASKS_PER_NODE", "32(x2)");
  env.set("SLURM_JOB_NODELIST", "nid[001-008]");
  env.set("SLURM_NODELIST", "nid[001-008]");
  const auto layout = slurm::read_step_layout(env);
  REQUIRE(layout);
  CHECK(layout->world_size == 3);
  CHECK(layout->nodes == std::vector<std::string>{"nid001", "nid002"});
}

TEST_CASE("components of a heterogeneous step keep their order where the names sort otherwise") {
  auto env = environment_of({"", "", "nid[001-002]", "1,2", "3", "0", "0", "0", "nid002", ""});
  env.set("SLURM_HET_SIZE", "2");
  env.set("SLURM_JOB_NODELIST_HET_GROUP_0", "nid002");
  env.set("SLURM_JOB_NODELIST_HET_GROUP_1", "nid001");
  const auto layout = slurm::read_step_layout(env);
  REQUIRE(layout);
  CHECK(layout->nodes == std::vector<std::string>{"nid002", "nid001"});
}

TEST_CASE("a batch script and a plain shell are no task of a step") {
  CHECK_FALSE(slurm::in_step_task(util::EnvSnapshot()));
  CHECK_FALSE(slurm::in_step_task(util::EnvSnapshot({{"SLURM_PROCID", "0"},
                                                     {"SLURM_NODEID", "0"},
                                                     {"SLURM_JOB_NODELIST", "nid001"},
                                                     {"SLURM_TASKS_PER_NODE", "56"}})));
}

TEST_CASE("variables that contradict each other are refused by name") {
  struct Row {
    const char* name;
    const char* value;
    const char* expected;
  };
  const Row rows[] = {
      {"SLURM_STEP_NUM_TASKS", "4", "SLURM_STEP_NUM_TASKS is 4"},
      {"SLURM_STEP_TASKS_PER_NODE", "2,1,1", "3 nodes"},
      {"SLURM_STEP_TASKS_PER_NODE", "2;1", "SLURM_STEP_TASKS_PER_NODE"},
      {"SLURM_STEP_NODELIST", "nid[001-", "SLURM_STEP_NODELIST"},
      {"SLURM_PROCID", "3", "SLURM_PROCID is 3"},
      {"SLURM_PROCID", "-1", "SLURM_PROCID"},
      {"SLURM_LOCALID", "2", "SLURM_LOCALID is 2"},
      {"SLURM_NODEID", "7", "SLURM_NODEID is 7"},
      {"SLURM_LOCALID", "", "SLURM_LOCALID is not set"},
      {"SLURMD_NODENAME", "nid077", "nid077"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name, row.value);
    auto env = uneven_step();
    env.set(row.name, row.value);
    const auto layout = slurm::read_step_layout(env);
    REQUIRE_FALSE(layout);
    CHECK_THAT(layout.error().what, Catch::Contains(row.expected));
    CHECK_FALSE(layout.error().what.empty());
  }
}

TEST_CASE("task counts are read in Slurm's run-length form") {
  using Counts = std::vector<unsigned>;
  CHECK(*slurm::parse_tasks_per_node("2,1") == Counts{2, 1});
  CHECK(*slurm::parse_tasks_per_node("4(x2),3") == Counts{4, 4, 3});
  CHECK(*slurm::parse_tasks_per_node("2(x3),1") == Counts{2, 2, 2, 1});
  for (const auto* text : {"", ",", "2,", "0", "4(x0)", "4(x", "4(x2", "4(2)", "(x2)", "4 (x2)", "-1",
                           "1(x100001)", "99999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(slurm::parse_tasks_per_node(text));
  }
}

TEST_CASE("a launcher's own variables give the layout where Slurm's don't") {
  model::LauncherRule rule;
  rule.name = "ibrun";
  rule.rank_variable = "PMI_RANK";
  rule.world_size_variable = "PMI_SIZE";
  rule.local_rank_variable = "MPI_LOCALRANKID";
  util::EnvSnapshot env({{"PMI_RANK", "2"},
                         {"PMI_SIZE", "3"},
                         {"SLURM_JOB_NODELIST", "c[1-2]"},
                         {"SLURM_TASKS_PER_NODE", "2,1"}});
  REQUIRE(slurm::in_launcher_task(env, rule));
  const auto layout = slurm::read_launcher_layout(env, rule, "c2.site.edu");
  REQUIRE(layout);
  CHECK(layout->node_rank == 1);
  CHECK(layout->local_rank == 0);
  CHECK(layout->local_world_size == 1);
  CHECK_FALSE(slurm::read_launcher_layout(env, rule, "c1"));
  env.set("MPI_LOCALRANKID", "1");
  CHECK_FALSE(slurm::read_launcher_layout(env, rule, "c2"));
  env.unset("MPI_LOCALRANKID");
  env.set("SLURM_TASKS_PER_NODE", "96(x2)");
  CHECK_FALSE(slurm::read_launcher_layout(env, rule, "c2")); // 3 ranks on 2 nodes, and nothing says how
  env.unset("PMI_RANK");
  CHECK_FALSE(slurm::in_launcher_task(env, rule));
}

TEST_CASE("a step is identified by job, step and restart") {
  const auto id = slurm::read_step_identity(
      util::EnvSnapshot({{"SLURM_JOB_ID", "123"}, {"SLURM_STEP_ID", "4"}, {"SLURM_RESTART_COUNT", "2"}}));
  CHECK(id.job == 123);
  CHECK(id.step == 4);
  CHECK(id.restart == 2);
}
