// SPDX-License-Identifier: MIT
// Launchers inside launchers, and what is told of ranks and GPUs.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/launch_play.hpp"
#include "run/launch/system_view.hpp"
#include "run/resolve/inner_launcher.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// The words of a shell's line; single quotes keep blanks.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '\'')
      is_quoted = !is_quoted;
    else if (c == ' ' && !is_quoted)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

} // namespace

TEST_CASE("a launcher that every rank would start is refused before it starts twice") {
  struct Row {
    std::vector<std::string> command;
    const char* expected; // empty: it runs
  };
  const Row rows[] = {
      {{"torchrun", "--nproc_per_node=2", "x.py"}, "torchrun starts the ranks of a node itself"},
      {{"python", "-m", "torch.distributed.run", "--nproc_per_node=2", "x.py"},
       "torch.distributed.run starts"},
      {{"accelerate", "launch", "x.py"}, "accelerate launch starts"},
      {{"deepspeed", "x.py"}, "deepspeed starts"},
      {{"mpirun", "-np", "2", "./x"}, "mpirun starts tasks itself"},
      {{"srun", "./x"}, "srun starts tasks itself"},
      {{"bash", "-c", "export A=1; torchrun --nproc_per_node=2 x.py"}, "torchrun starts"},
      {{"env", "A=1", "torchrun", "--nproc_per_node", "2", "x.py"}, "torchrun starts"},
      {{"python", "x.py", "torchrun"}, ""},
      {{"torchrun", "--nproc_per_node=1", "--nnodes=2", "x.py"}, ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.command);
    for (const bool spawn : {false, true}) {
      const auto env = spawn ? bare_environment() : step_environment(0, 2);
      const auto output = dry_run_in_memory(env, row.command, spawn ? std::optional(2U) : std::nullopt);
      CHECK(output.exit_code == (*row.expected == '\0' ? 0 : 125));
      CHECK_THAT(output.err, Contains(row.expected));
    }
  }
  // One agent for the node is what the agent is for; the GPUs do not make several of it.
  auto env = bare_environment();
  env.set("CUDA_VISIBLE_DEVICES", "0,1");
  const auto dry_run = dry_run_in_memory(env, {"torchrun", "--nproc_per_node=2", "x.py"});
  CHECK(dry_run.exit_code == 0);
  CHECK(util::split(dry_run.out, '#').size() == 2);
}

TEST_CASE("an agent that each node starts is told of the other nodes, or refused") {
  auto env = step_environment(0, 2);
  env.set("SLURM_STEP_NODELIST", "nid[001-002]");
  env.set("SLURM_STEP_TASKS_PER_NODE", "1(x2)");
  struct Row {
    std::string command;
    int code;
    const char* expected;
  };
  const Row rows[] = {
      {"torchrun --nproc_per_node=4 x.py", 125,
       "torchrun on each of 2 nodes has no rendezvous endpoint and number of nodes: 2 separate trainings"},
      {"torchrun --standalone --nnodes=1 --nproc_per_node=4 x.py", 125, "no rendezvous endpoint"},
      {"python -m torch.distributed.run --nnodes=2 --nproc_per_node=4 x.py", 125,
       "python -m torch.distributed.run --nnodes=2 --rdzv_backend=c10d --rdzv_id=$SLURM_JOB_ID "
       "--rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT"},
      {"deepspeed --num_gpus 4 x.py", 125, "deepspeed on each of 2 nodes"},
      {"bash -c 'cd work && torchrun --nproc_per_node=4 x.py'", 125, "no rendezvous endpoint"},
      {"bash -c 'torchrun $ARGUMENTS x.py'", 0, ""},
      {"torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=nid001:29500 x.py", 0, ""},
      {"accelerate launch --config_file c.yaml x.py", 0, ""},
      {"deepspeed --hostfile hosts --no_ssh --node_rank 0 --master_addr nid001 x.py", 0, ""},
      {"fabric run --num-nodes=2 --node-rank=0 --main-address=nid001 x.py", 0, ""},
      {"torchrun --nnodes=1 --rdzv_backend=c10d --rdzv_endpoint=localhost:0 --nproc_per_node 4 x.py", 125,
       "no rendezvous endpoint"},
      // What stands beside it may say it: that is a warning's matter.
      {"env PET_NNODES=2 PET_RDZV_ENDPOINT=nid001:1 torchrun x.py", 0, ""},
      {"bash -c 'if [ $SLURM_NNODES = 1 ]; then torchrun --standalone x.py; else torchrun --nnodes 2 "
       "--rdzv_endpoint nid001:2 x.py; fi'",
       0, ""},
      {"python x.py", 0, ""}};
  for (const auto& row : rows) {
    CAPTURE(row.command);
    const auto output = dry_run_in_memory(env, words_of(row.command));
    CHECK(output.exit_code == row.code);
    CHECK_THAT(output.err, Contains(row.expected));
  }
  // Its configuration file, in a home folder that is not ours, may say it.
  CHECK_THAT(dry_run_in_memory(env, {"accelerate", "launch", "--num_processes", "4", "x.py"}).out,
             Contains("warning: accelerate launch on each of 2 nodes has no rendezvous endpoint") &&
                 Contains("unless the configuration file of accelerate sets them"));
  env.set("PET_NNODES", "2");
  CHECK(dry_run_in_memory(env, words_of("torchrun --rdzv_backend c10d --rdzv_endpoint nid001:1 x.py"))
            .exit_code == 0);
  env.set("PET_RDZV_ENDPOINT", "nid001:29500");
  CHECK(dry_run_in_memory(env, {"torchrun", "--nproc_per_node=4", "x.py"}).exit_code == 0);
}

TEST_CASE("an agent hears of other nodes by its variables, by a container's --env and by shortened options") {
  auto env = step_environment(0, 2);
  env.set("SLURM_STEP_NODELIST", "nid[001-002]");
  env.set("SLURM_STEP_TASKS_PER_NODE", "1(x2)");
  struct Row {
    std::string command;
    bool is_reported;
  };
  const std::string place = "PET_RDZV_ENDPOINT=nid001:29500";
  const Row rows[] = {
      {"apptainer exec --env PET_NNODES=2," + place + " x.sif torchrun --nproc_per_node=4 x.py", true},
      {"apptainer exec --env PET_NNODES=2 x.sif torchrun --nproc_per_node=4 x.py", false},
      {"podman run -e PET_NNODES=2 -e " + place + " image torchrun --nproc_per_node=4 x.py", true},
      {"env PET_NNODES=2 " + place + " torchrun --nproc_per_node=4 x.py", true},
      {"env PET_NNODES=2 torchrun --nproc_per_node=4 x.py", false},
      {"env PET_STANDALONE=1 torchrun --nnodes=2 --rdzv_endpoint=nid001:1 x.py", false},
      {"env PET_STANDALONE=0 torchrun --nnodes=2 --rdzv_endpoint=nid001:1 x.py", true},
      {"bash -c 'export PET_NNODES=2 " + place + "; torchrun x.py'", true},
      {"torchrun --nnode 2 --rdzv_end nid001:29500 --nproc_per 4 x.py", true},
      {"torchrun --nnode 2 --nproc_per 4 x.py", false},
      {"torchrun --stand --nproc_per 4 x.py", false},
      {"python -m torch.distributed.run --nnode=2 --master_a=nid001 --nproc_per=4 x.py", true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.command);
    const auto output = dry_run_in_memory(env, words_of(row.command));
    CHECK(output.exit_code == (row.is_reported ? 0 : 125));
    CHECK(row.is_reported == ((output.out + output.err).find("no rendezvous endpoint") == std::string::npos));
  }
  const std::vector<std::string> agent = {"torchrun", "--nproc_per_node=4", "x.py"};
  env.set("APPTAINERENV_PET_NNODES", "2");
  env.set("PET_MASTER_ADDR", "nid001");
  CHECK(dry_run_in_memory(env, agent).exit_code == 0);
  env.set("PET_STANDALONE", "1");
  CHECK(dry_run_in_memory(env, agent).exit_code == 125);
}

TEST_CASE("deepspeed reads a file of hosts by itself, where the node has it") {
  const std::vector<std::string> agent = {"deepspeed", "--num_gpus", "4", "x.py"};
  const util::EnvSnapshot none;
  RecordedNode node;
  CHECK_FALSE(launch::find_inner_launcher(agent, none, node).value().joins_other_nodes());
  node.files = {"/job/hostfile"};
  CHECK(launch::find_inner_launcher(agent, none, node).value().joins_other_nodes());
  CHECK_FALSE(launch::find_inner_launcher({"torchrun", "x.py"}, none, node).value().joins_other_nodes());
  const std::string directory = make_directory();
  const launch::RuntimeContext context;
  const launch::SystemNodeQueries system(context);
  CHECK_FALSE(system.has_file(directory + "/hostfile"));
  REQUIRE(util::write_file(directory + "/hostfile", "nid001 slots=4\n"));
  CHECK(system.has_file(directory + "/hostfile"));
  std::filesystem::remove_all(directory);
}

TEST_CASE("the report tells a rank's own GPU from those that it sees") {
  auto env = step_environment(1, 2);
  env.set("CUDA_VISIBLE_DEVICES", "0,1");
  const auto report = [&](const std::function<void(launch::LaunchRequest&)>& change = {}) {
    return launch_in_memory(env, "exit 0",
                            [&](LaunchPlay& play) {
                              play.request.rank_settings.report = model::Sourced<bool>{true, {}};
                              if (change) change(play.request);
                            })
        .err;
  };
  CHECK_THAT(report(), Contains(", local 1): GPU 1 of 0,1, CPUs "));
  CHECK_THAT(report([](auto& request) { request.gpu_visibility = model::GpuVisibilityMode::own; }),
             Contains(": GPU 1, CPUs "));
  CHECK_THAT(report([](auto& request) { request.gpus_per_task = 0; }), Contains(": GPU none, CPUs "));
  env.set("CUDA_VISIBLE_DEVICES", "0,1,2,3");
  CHECK_THAT(report(), Contains(": GPU 2,3 of 0,1,2,3, CPUs "));
  env.set("CUDA_VISIBLE_DEVICES", "3"); // each task has a list of its own
  CHECK_THAT(report(), Contains(": GPU 3, CPUs "));
}

TEST_CASE("launch in launch is refused: each rank would have a world of its own") {
  const std::string directory = make_directory(),
                    inner = std::string(HPCML_BINARY) + " launch " + "--nproc-per-node 2 -- echo hi";
  REQUIRE(util::write_file(directory + "/run.sh", "#!/bin/sh\n" + inner + "\n", 0755));
  struct Row {
    std::string command;
    const char* expected;
  };
  for (const auto& row : {Row{inner, "hpcml launch starts the ranks of a node itself"},
                          Row{directory + "/run.sh", "/2 of hpcml launch"}}) {
    CAPTURE(row.command);
    const auto output =
        run_line(std::string(HPCML_BINARY) + " launch " + "--nproc-per-node 2 -- " + row.command);
    CHECK(output.exit_code == 125);
    CHECK(output.out.find("hi") == std::string::npos);
    CHECK_THAT(output.err, Contains(row.expected));
  }
  // A world of one around it is none of two.
  CHECK(run_line(std::string(HPCML_BINARY) + " launch " + "--nproc-per-node 1 -- " + directory + "/run.sh")
            .exit_code == 0);
  std::filesystem::remove_all(directory);
}

TEST_CASE("more ranks than GPUs are told, where it is certain") {
  auto env = bare_environment();
  env.set("CUDA_VISIBLE_DEVICES", "0,1");
  const auto spawned = dry_run_in_memory(env, {"true"}, 4);
  CHECK_THAT(spawned.out, Contains("warning: 4 ranks share 2 GPUs (CUDA_VISIBLE_DEVICES=0,1)"));
  CHECK_THAT(dry_run_in_memory(env, {"true"}, 2).out, !Contains("ranks share"));
  auto task = step_environment(0, 4);
  task.set("CUDA_VISIBLE_DEVICES", "0,1");
  CHECK_THAT(dry_run_in_memory(task, {"true"}).out, !Contains("ranks share"));
  task.set("SLURM_GPUS_ON_NODE", "2");
  CHECK_THAT(dry_run_in_memory(task, {"true"}).out, Contains("4 ranks share 2 GPUs"));
  task.set("SLURM_GPUS_ON_NODE", "4"); // each task has its own
  CHECK_THAT(dry_run_in_memory(task, {"true"}).out, !Contains("ranks share"));
}
