// SPDX-License-Identifier: MIT
// Launchers behind `--`: one per node with the job's own meeting place, or refused with the line to type.
#include <catch2/catch.hpp>

#include "generate/render/render_script.hpp"
#include "holds.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

model::JobSpec zurada_job(std::vector<std::string> command) {
  auto job = job_of(std::move(command));
  job.partition = text("gpu2h100");
  job.gpus_per_node = flag(2u, "--gpus-per-node");
  job.mem = flag(mem_of("64G"), "--mem");
  return job;
}

std::string step_of(const model::JobSpec& job) {
  const auto script = render::render_script(planned(job, "zurada"));
  return script.substr(script.rfind("srun"));
}

} // namespace

TEST_CASE("torchrun in the command is started once per node, with the ranks that it asks for") {
  struct Row {
    std::vector<std::string> command;
    unsigned ranks;
    std::string part; ///< of the step
  };
  const std::vector<Row> rows = {
      {{"torchrun", "--nproc_per_node=2", "elastic.py", "--lr", "1"}, 2, "elastic.py --lr 1"},
      {{"torchrun", "--nproc-per-node", "gpu", "x.py"}, 2, "x.py"},
      {{"torchrun", "x.py"}, 2, "x.py"},
      {{"torchrun", "--standalone", "--nproc_per_node=1", "x.py"}, 1, "--rdzv_backend=c10d"},
      {{"torchrun", "--max-restarts=3", "--nproc_per_node=2", "x.py"}, 2, "--max_restarts=3"},
      {{"torchrun", "-m", "pkg.train", "--x"}, 2, "-m"},
      {{"torchrun", "--no-python", "./train"}, 2, "--no_python"},
      {{"python", "-m", "torch.distributed.run", "--nproc_per_node=2", "x.py"}, 2, "--nproc_per_node=2"},
      {{"python3", "-m", "torch.distributed.launch", "--use_env", "--nproc_per_node=2", "x.py"}, 2, "x.py"},
      {{"accelerate", "launch", "--num_processes", "2", "--mixed_precision", "bf16", "x.py"},
       2,
       "--mixed_precision=bf16"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.command);
    const auto job = zurada_job(row.command);
    const auto plan = planned(job, "zurada");
    CHECK(plan.launcher.choice.is_agent());
    CHECK(plan.layout.tasks_per_node == 1);
    CHECK(plan.layout.ranks_per_node == row.ranks);
    CHECK(holds(step_of(job), row.part));
    CHECK_FALSE(holds(step_of(job), "--standalone"));
  }
  const auto accelerate = step_of(zurada_job({"accelerate", "launch", "--mixed_precision=bf16", "x.py"}));
  CHECK_FALSE(holds(accelerate, "--mixed_precision=no"));
}

TEST_CASE("the agent's options under --launcher reach the agent and not the program") {
  auto job = zurada_job({"--max-restarts=3", "x.py"});
  job.launcher = launcher("torchrun");
  const auto step = step_of(job);
  CHECK(holds(step, "--max_restarts=3"));
  CHECK_FALSE(holds(step, "--no_python"));
  job.command = {"torchrun", "--tee", "3", "x.py"};
  CHECK(holds(step_of(job), "--tee=3"));
  job.command = {"x.py", "--max-restarts=3"}; // the program's own
  CHECK(holds(step_of(job), "x.py --max-restarts=3"));
  job.launcher.reset();
  job.command = {"--max-restarts=3", "x.py"};
  CHECK(holds(error_of(job, "zurada", "usage/command").message, "begins with an option"));
}

TEST_CASE("an elastic job keeps its least number of nodes and outlives the others") {
  auto job = zurada_job({"torchrun", "--nnodes=1:2", "--max_restarts=3", "--nproc_per_node=2", "x.py"});
  const auto plan = planned(job, "zurada");
  CHECK(plan.layout.nodes == 2);
  const auto step = step_of(job);
  CHECK(holds(step, "--nnodes=1:2"));
  CHECK(holds(step, "--kill-on-bad-exit=0"));
  job.nodes = flag(4u, "--nodes");
  CHECK(
      holds(error_of(job, "zurada", "usage/command").message, "--nnodes=1:2 contradicts the job's 4 nodes"));
}

TEST_CASE("what the command and the request say of ranks must agree") {
  auto job = zurada_job({"torchrun", "--nproc_per_node=2", "x.py"});
  job.tasks_per_node = flag(1u, "--tasks-per-node"); // counts the launchers
  CHECK(planned(job, "zurada").layout.ranks_per_node == 2);
  job.tasks_per_node = flag(4u, "--tasks-per-node");
  CHECK(holds(error_of(job, "zurada", "usage/command").message, "contradicts"));
  job.tasks_per_node.reset();
  job.nodes = flag(2u, "--nodes");
  job.command = {"torchrun", "--nnodes=4", "x.py"};
  CHECK(holds(error_of(job, "zurada", "usage/command").message, "--nnodes=4 contradicts the job's 2 nodes"));
}

TEST_CASE("a launcher that each rank would start is refused with the line to type") {
  struct Row {
    std::vector<std::string> command;
    std::string hint;
    std::string launcher = "hpcml";
  };
  const std::vector<Row> rows = {
      {{"srun", "-n", "2", "python", "x.py"}, "use --tasks-per-node 2 -- python x.py"},
      {{"srun", "-N", "2", "-n", "4", "./a"}, "use --nodes 2 --tasks-per-node 2 -- ./a"},
      {{"mpirun", "-np", "2", "python", "x.py"}, "use --tasks-per-node 2 -- python x.py"},
      {{"mpiexec", "-n", "2", "./a"}, "use --tasks-per-node 2 -- ./a"},
      {{"ibrun", "python", "x.py"}, "use -- python x.py"},
      {{"horovodrun", "-np", "2", "python", "x.py"}, "use --tasks-per-node 2 -- python x.py"},
      {{"flux", "run", "-N", "1", "-n", "2", "-o", "pmi=off", "./a"},
       "use --nodes 1 --tasks-per-node 2 -- ./a"},
      {{"deepspeed", "--num_gpus", "2", "x.py", "--deepspeed"},
       "use --launcher deepspeed --tasks-per-node 2 -- python x.py --deepspeed"},
      {{"composer", "-n", "2", "x.py"}, "use --tasks-per-node 2 -- python x.py"},
      {{"env", "A=1 2", "torchrun", "x.py"}, "use --env 'A=1 2' --launcher torchrun -- python x.py"},
      {{"nice", "torchrun", "--nproc_per_node=2", "x.py"},
       "use --launcher torchrun --tasks-per-node 2 -- python x.py"},
      {{"time", "accelerate", "launch", "x.py"}, "use --launcher accelerate -- python x.py"},
      {{"bash", "-c", "cd /x && torchrun --nproc_per_node=2 x.py"}, "--tasks-per-node 1 --gpus-per-node 2"},
      {{"sh", "-c", "mpirun -np 2 ./a"}, "use --tasks-per-node 2 -- PROGRAM"},
      {{"apptainer", "exec", "a.sif", "torchrun", "x.py"},
       "use --container a.sif --launcher torchrun -- python x.py"},
      {{"hpcml", "launch", "--", "python", "x.py"}, "use -- python x.py"},
      {{"torchrun", "--nproc_per_node=2", "x.py"}, "--launcher torchrun", "srun"},
      {{"srun", "./a"}, "use -- ./a", "torchrun"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.command);
    auto job = zurada_job(row.command);
    if (row.launcher != "hpcml") job.launcher = launcher(row.launcher);
    const auto error = error_of(job, "zurada", "usage/command");
    CAPTURE(error.hint);
    CHECK(holds(error.hint, row.hint));
  }
}

TEST_CASE("an agent that stands alone on its node may be started by the command itself") {
  auto job = zurada_job({"bash", "-c", "torchrun --standalone --nproc_per_node=2 x.py"});
  job.tasks_per_node = flag(1u, "--tasks-per-node");
  CHECK(planned(job, "zurada").layout.gpus_per_rank == 2);
  job.nodes = flag(2u, "--nodes");
  CHECK(holds(error_of(job, "zurada", "usage/command").message, "unconnected with the others"));
  job.command = {"bash", "-c",
                 "torchrun --nnodes=2 --nproc_per_node=2 --rdzv_backend=c10d "
                 "--rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT x.py"};
  CHECK(planned(job, "zurada").layout.nodes == 2);
  job.nodes.reset();
  job.command = {"srun", "./a"};
  CHECK(holds(error_of(job, "zurada", "usage/command").message, "is already running"));
}

TEST_CASE("launchers in the steps of a job file and in the script that runs are seen, too") {
  auto job = zurada_job({"python", "prepare.py"});
  job.steps = {{{"python", "prepare.py"}, true}, {{"torchrun", "--nproc_per_node=2", "x.py"}, false}};
  CHECK(holds(error_of(job, "zurada", "usage/command").message, "once per rank, 2 times on a node"));
  job.steps[1].once = true;
  CHECK(planned(job, "zurada").steps.size() == 2);
  auto by_script = zurada_job({"./run.sh"});
  by_script.command_script = "#!/bin/bash\nmodule load x\ntorchrun --nproc_per_node=2 x.py\n";
  CHECK(holds(error_of(by_script, "zurada", "usage/command").hint, "--tasks-per-node 1"));
  by_script.command_script = "#!/bin/bash\npython x.py\n";
  CHECK(planned(by_script, "zurada").layout.ranks_per_node == 2);
}
