// SPDX-License-Identifier: MIT
// Who has started a rank, and what others have set before: variables of this step, of an outer one, of a
// container's hook.
#include <catch2/catch.hpp>

#include "core/util/text.hpp"
#include "run/launch/launch_play.hpp"
#include "run/launch/system_view.hpp"
#include "run/resolve/task_starter.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using launch::TaskStarter;

TEST_CASE("the processes above tell who has started a task, whatever variables are inherited") {
  struct Row {
    std::vector<std::string> names;
    TaskStarter starter;
  };
  const Row rows[] = {
      {{"slurmstepd: [12.4]"}, TaskStarter::task},
      {{"sh", "bash", "slurmstepd: [12.4]"}, TaskStarter::task},
      {{"bash", "python3", "slurmstepd: [12.4]"}, TaskStarter::below},
      {{"bash", "slurmstepd: [12.4+1]"}, TaskStarter::component},
      {{"bash", "slurmstepd: [12.batch]"}, TaskStarter::script},
      {{"slurm_script", "slurmstepd: [12.batch]"}, TaskStarter::script},
      {{"bash", "slurmstepd: [12.interactive]"}, TaskStarter::script},
      {{"bash", "slurmstepd: [99.batch]"}, TaskStarter::unknown}, // not of the job of these variables
      {{"sh", "orted", "slurmstepd: [12.4]"}, TaskStarter::mpi},
      {{"hydra_pmi_proxy", "slurmstepd: [12.0]"}, TaskStarter::mpi},
      {{"mpirun", "slurm_script", "slurmstepd: [12.batch]"}, TaskStarter::mpi},
      {{"bash", "slurmstepd: [12.4]", "mpirun"}, TaskStarter::task},
      {{"bash", "sshd", "sshd"}, TaskStarter::unknown},
      {{}, TaskStarter::unknown},
  };
  for (const auto& row : rows) {
    CAPTURE(row.names);
    CHECK(launch::evaluate_ancestors(row.names, "12") == row.starter);
  }
  const auto mine = launch::read_ancestors(); // this very test has a parent
  CHECK_FALSE(mine.empty());
}

TEST_CASE("a loopback address means rank 0's node where there is no other, and is refused where there is") {
  for (const auto* address : {"127.0.0.1", "localhost", "::1", "127.0.1.1"}) {
    CAPTURE(address);
    auto env = step_environment(1, 2);
    env.set("MASTER_ADDR", address);
    const auto known = [&](LaunchPlay& play) { play.queries.aliases = {address}; };
    CHECK(launch_in_memory(env, "out $MASTER_ADDR; exit 0", known).out == std::string(address) + "\n");
    env.set("SLURM_STEP_NODELIST", "nid[001-002]");
    env.set("SLURM_STEP_TASKS_PER_NODE", "1(x2)");
    env.set("SLURM_NODEID", "1");
    env.set("SLURM_LOCALID", "0");
    const auto refused = launch_in_memory(env, "exit 0");
    CHECK(refused.exit_code == 125);
    CHECK_THAT(refused.err, Contains(std::string("MASTER_ADDR=") + address + " (expected nid001)"));
  }
}

TEST_CASE("what a container's hook has set for the task agrees, or is refused") {
  // As enroot's hook for images with PyTorch sets them.
  auto env = step_environment(3, 4);
  for (const auto& [name, value] : {std::pair{"RANK", "3"},
                                    {"LOCAL_RANK", "3"},
                                    {"WORLD_SIZE", "4"},
                                    {"MASTER_ADDR", "nid001"},
                                    {"MASTER_PORT", "65242"}})
    env.set(name, value);
  CHECK(launch_in_memory(env, "out $RANK $WORLD_SIZE $MASTER_ADDR:$MASTER_PORT; exit 0").out ==
        "3 4 nid001:65242\n");
  env.set("WORLD_SIZE", "8"); // the job's tasks, not the step's
  CHECK_THAT(launch_in_memory(env, "exit 0").err, Contains("WORLD_SIZE=8 (expected 4)"));
  // Where each task starts ranks, the hook has told the task's number, and the ranks have their own.
  env = step_environment(1, 2);
  env.set("SLURM_STEP_NODELIST", "nid[001-002]");
  env.set("SLURM_STEP_TASKS_PER_NODE", "1(x2)");
  env.set("SLURM_NODEID", "1");
  env.set("SLURM_LOCALID", "0");
  env.set("RANK", "1");
  env.set("WORLD_SIZE", "2");
  env.set("MASTER_ADDR", "nid001.site.edu");
  const auto start = [&] {
    return launch_in_memory(env, "out $RANK $WORLD_SIZE $MASTER_ADDR; exit 0", [](LaunchPlay& play) {
      play.request.processes_per_node = 2;
      play.queries.aliases = {"nid001.site.edu"};
    });
  };
  CHECK_THAT(start().out, Contains("[3] 3 4 nid001.site.edu\n"));
  env.set("MASTER_ADDR", "nid002");
  CHECK_THAT(start().err, Contains("MASTER_ADDR=nid002 (expected nid001)"));
}

TEST_CASE("what launch has set for a rank is no other step's, unless somebody has changed it since") {
  auto inner = step_environment(0, 1);
  LaunchPlay outer({"exit 0"});
  outer.become_task(1, 2);
  REQUIRE(outer.run() == -1);
  for (const auto& [name, value] : outer.system.executed()[0].env.variables())
    if (!name.starts_with("SLURM_")) inner.set(name, value);
  REQUIRE(inner.get_or("RANK", "") == "1");
  const std::string show = "out $RANK $WORLD_SIZE $OMP_NUM_THREADS; exit 0";
  // The same step: a launch in a launch must agree.
  CHECK(launch_in_memory(inner, show).exit_code == 125);
  inner.set("SLURM_STEP_ID", "1");
  inner.set("OMP_NUM_THREADS", "77");
  CHECK(launch_in_memory(inner, show).out == "0 1 77\n");
  inner.set("WORLD_SIZE", "3"); // somebody's own
  CHECK_THAT(launch_in_memory(inner, show).err, Contains("WORLD_SIZE=3 (expected 1)"));
  inner.unset("WORLD_SIZE");
  inner.set("SLURM_JOB_ID", "4243"); // a job submitted from a rank
  inner.set("SLURM_STEP_ID", "0");
  CHECK(launch_in_memory(inner, show).out == "0 1 77\n");
}

TEST_CASE("ranks of mpirun have its numbers, in whatever order it has counted the nodes") {
  // mpirun --map-by node -np 5 on three nodes: rank 4 is the second on the second.
  auto env = bare_environment();
  for (const auto& [name, value] : {std::pair{"OMPI_COMM_WORLD_RANK", "4"},
                                    {"OMPI_COMM_WORLD_SIZE", "5"},
                                    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                    {"PMIX_NAMESPACE", "2947284993"},
                                    {"SLURM_JOB_ID", "12"},
                                    {"SLURM_JOB_NODELIST", "c[1-3]"},
                                    {"SLURMD_NODENAME", "c2"},
                                    // of the step that started mpirun's daemons
                                    {"SLURM_STEP_ID", "3"},
                                    {"SLURM_PROCID", "1"},
                                    {"SLURM_LOCALID", "0"},
                                    {"SLURM_NODEID", "1"},
                                    {"SLURM_STEP_NUM_TASKS", "3"},
                                    {"SLURM_STEP_NODELIST", "c[1-3]"},
                                    {"SLURM_STEP_TASKS_PER_NODE", "1(x3)"}})
    env.set(name, value);
  const std::string show = "out $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK $MASTER_ADDR "
                           "$MASTER_PORT; exit 0";
  const auto far = launch_in_memory(env, show).out;
  CHECK_THAT(far, Contains("4 5 1 2 1 c1 "));
  // Slurm's numbers of a task, which those of the daemons' step and of the batch script are not.
  CHECK(launch_in_memory(env, "out $SLURM_PROCID $SLURM_LOCALID $SLURM_NODEID; exit 0").out == "4 1 1\n");
  // Beside mpirun itself there is no step; the port is the same.
  auto near = env;
  for (const auto& [name, value] : env.variables())
    if (name.starts_with("SLURM_STEP_") || name == "SLURM_PROCID") near.unset(name);
  near.set("OMPI_COMM_WORLD_RANK", "0");
  near.set("OMPI_COMM_WORLD_LOCAL_RANK", "0");
  near.set("SLURMD_NODENAME", "c1");
  const auto first = launch_in_memory(near, show).out;
  CHECK_THAT(first, Contains("0 5 0 2 0 c1 "));
  CHECK(util::split(first, ' ').back() == util::split(far, ' ').back());
  near.set("SLURMD_NODENAME", "c3"); // mpirun --host c3,c2
  const auto elsewhere = launch_in_memory(near, show);
  CHECK(elsewhere.exit_code == 125);
  CHECK_THAT(elsewhere.err, Contains("rank 0 runs on c3, but the other ranks expect it on c1") &&
                                Contains("mpirun -x MASTER_ADDR=c3"));
  near.set("MASTER_ADDR", "c3");
  CHECK_THAT(launch_in_memory(near, show).out, Contains("0 5 0 2 2 c3 "));
}

TEST_CASE("a list of hosts in a step over components is refused where others look for rank 0 elsewhere") {
  // srun --het-group=0 -m arbitrary -w nid002,nid001 A : --het-group=1 B: only the first task knows.
  auto env = step_environment(0, 3);
  for (const auto& [name, value] : {std::pair{"SLURM_HET_SIZE", "2"},
                                    {"SLURM_JOB_ID_HET_GROUP_0", "4242"},
                                    {"SLURM_JOB_NODELIST_HET_GROUP_0", "nid[001-002]"},
                                    {"SLURM_JOB_NODELIST_HET_GROUP_1", "nid003"},
                                    {"SLURM_STEP_NODELIST", "nid[001-003]"},
                                    {"SLURM_STEP_TASKS_PER_NODE", "1(x3)"},
                                    {"SLURM_NODEID", "1"},
                                    {"SLURM_DISTRIBUTION", "block"}})
    env.set(name, value);
  const auto refused = launch_in_memory(env, "exit 0");
  CHECK(refused.exit_code == 125);
  CHECK_THAT(refused.err, Contains("rank 0 is on nid002") && Contains("expect it on nid001"));
  env.set("SLURM_NODEID", "0");
  CHECK(launch_in_memory(env, "out $MASTER_ADDR; exit 0").out == "nid001\n");
}
