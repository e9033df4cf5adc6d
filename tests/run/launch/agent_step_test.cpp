// SPDX-License-Identifier: MIT
// When hpcml launch is an agent, what it refuses to be one in, and that ranks have the same from an agent as
// from a step with a task for each.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "holds.hpp"
#include "run/launch/process_helper.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using test::holds;

namespace {

util::EnvSnapshot cluster_environment() {
  auto env = util::EnvSnapshot::of_process();
  env.set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
  return env;
}

/// What a rank has, as a file in the folder `$1`.
const char* const k_show = R"sh(#!/bin/bash
{ echo "rank $RANK of $WORLD_SIZE, local $LOCAL_RANK of $LOCAL_WORLD_SIZE, node $NODE_RANK"
  echo "$SLURMD_NODENAME, meets at $MASTER_ADDR"
  grep -E 'Cpus_allowed_list' /proc/self/status
  echo "GPU $ROCR_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES"
  echo "threads $OMP_NUM_THREADS, workers $HPCML_DATALOADER_WORKERS, cores $SLURM_CPUS_PER_TASK"
  echo "$GLOO_SOCKET_IFNAME $NCCL_SOCKET_IFNAME"
  echo "image ${SINGULARITY_NAME:-none}"
} > "$1/$RANK"
)sh";

/// Writes the job of `gen` at LUMI whose ranks show what they have in the folder `name`.
void write_job(const std::string& directory, const std::string& name, const std::vector<std::string>& more) {
  REQUIRE(std::filesystem::create_directory(directory + "/" + name));
  std::vector<std::string> words = {"gen",
                                    "--site",
                                    "lumi",
                                    "--nodes",
                                    "2",
                                    "--account",
                                    "project_1",
                                    "--time",
                                    "5",
                                    "--hpcml-path",
                                    HPCML_BINARY,
                                    "--output",
                                    directory + "/" + name + ".log"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--", "bash", directory + "/show.sh", directory + "/" + name});
  const auto script = run_hpcml(words, cluster_environment());
  INFO(script.err);
  REQUIRE(script.exit_code == 0);
  REQUIRE(util::write_file(directory + "/" + name + ".sh", script.out));
}

} // namespace

TEST_CASE("a dry run of an agent prints each rank, and what the agent does besides") {
  const auto plain =
      run_hpcml({"launch", "--dry-run", "--nproc-per-node", "2", "--", "true"}, bare_environment());
  CHECK_FALSE(holds(plain.out, "# the agent"));
  const auto agent = run_hpcml({"launch", "--dry-run", "--nproc-per-node", "2", "--log-dir", "/no/logs",
                                "--max-restarts", "3", "--stall-timeout", "60", "--", "true"},
                               bare_environment());
  INFO(agent.err);
  REQUIRE(agent.exit_code == 0);
  CHECK(holds(agent.out, "# rank 0\n"));
  CHECK(holds(agent.out, "# rank 1\n"));
  CHECK(holds(
      agent.out,
      "# the agent of this node supervises its ranks; their output is written to /no/logs; after a "
      "failure all ranks are restarted, at most 3 times; they are stopped after 60 s without output\n"));
  CHECK_FALSE(std::filesystem::exists("/no"));
}

TEST_CASE("an agent in a step with a task for each rank is refused with the line to type") {
  for (const auto* rank : {"0", "3"}) {
    auto env = step_environment(0, 4);
    env.set("SLURM_PROCID", rank);
    env.set("SLURM_LOCALID", rank);
    const auto result = run_hpcml({"launch", "--max-restarts", "3", "--", "true"}, env);
    CAPTURE(rank, result.err);
    CHECK(result.exit_code == 125);
    CHECK(holds(
        result.err,
        "with --max-restarts one agent per node starts the ranks, but this step has 4 tasks on this node"));
    CHECK(holds(result.err, "srun --ntasks=1 --ntasks-per-node=1 hpcml launch --nproc-per-node 4 "));
  }
  auto environment = step_environment(0, 1);
  environment.set("SLURM_GPUS_ON_NODE", "8");
  const auto untold = run_hpcml({"launch", "--agent", "--", "true"}, environment);
  CHECK(untold.exit_code == 125);
  CHECK(holds(untold.err, "hpcml launch --nproc-per-node 8 "));
  // An export holds for all steps of a script.
  auto exported = step_environment(0, 4);
  exported.set("HPCML_LOG_DIR", "logs");
  CHECK(holds(run_hpcml({"launch", "--", "true"}, exported).err, "with --log-dir one agent per node"));
  exported.set("HPCML_LOG_DIR", "logs/%j");
  CHECK(holds(run_hpcml({"launch", "--", "true"}, exported).err,
              "HPCML_LOG_DIR: the log directory \"logs/%j\" has \"%j\""));
}

TEST_CASE("a number of nodes that the step has not, or that nobody can bring together, is refused") {
  const auto in_step =
      run_hpcml({"launch", "--nproc-per-node", "2", "--nnodes", "2:4", "--", "true"}, step_environment(0, 1));
  CHECK(in_step.exit_code == 125);
  CHECK(holds(in_step.err, "--nnodes 2:4 does not match the step of srun, which has 1 node"));
  const auto outside =
      run_hpcml({"launch", "--nproc-per-node", "2", "--nnodes", "2", "--", "true"}, bare_environment());
  CHECK(outside.exit_code == 125);
  CHECK(holds(outside.err, "--nnodes 2 outside a step of srun"));
  CHECK(holds(outside.err, "--rdzv-endpoint HOST:PORT"));
  const auto wrong = run_hpcml({"launch", "--nnodes", "4:2", "--", "true"}, bare_environment());
  CHECK(wrong.exit_code != 0);
  CHECK(holds(wrong.err, "the minimum of nodes (4) exceeds the maximum (2)"));
}

TEST_CASE("ranks of agents have the world, cores, GPUs and image that they have as tasks of their own, on "
          "two emulated "
          "LUMI nodes",
          "[slurm]") {
  const std::string directory = make_directory();
  REQUIRE(util::write_file(directory + "/show.sh", k_show));
  REQUIRE(util::write_file(directory + "/image.sif", ""));
  const std::vector<std::string> in_image = {"--container", directory + "/image.sif", "--bind", directory};
  write_job(directory, "tasks", {});
  write_job(directory, "agents", {"--agent"});
  write_job(directory, "tasks-in-image", in_image);
  auto both = in_image;
  both.insert(both.end(), {"--log-dir", directory + "/logs", "--nnodes", "1:2"});
  write_job(directory, "agents-in-image", both);
  const auto output =
      run_hpcml({"emulate", "--quiet", "--site", "lumi", "--nodes", "2", "--", "bash", "-c",
                 "cd " + directory +
                     " && for job in tasks agents tasks-in-image agents-in-image; do sbatch -W $job.sh || "
                     "echo $job $?; done"},
                cluster_environment());
  std::string logs;
  for (const auto* name : {"tasks", "agents", "tasks-in-image", "agents-in-image"})
    logs += std::string("== ") + name + "\n" +
            util::read_file(directory + "/" + name + ".log").value_or("none\n");
  INFO(output.out << output.err << logs);
  CHECK(output.exit_code == 0);
  for (unsigned rank = 0; rank < 16; ++rank) {
    const auto has = [&](const std::string& name) {
      return util::read_file(directory + "/" + name + "/" + std::to_string(rank))
          .value_or("nothing of " + name);
    };
    CAPTURE(rank);
    CHECK(holds(has("tasks"),
                "rank " + std::to_string(rank) + " of 16, local " + std::to_string(rank % 8) + " of 8"));
    CHECK(has("agents") == has("tasks"));
    CHECK(holds(has("tasks-in-image"), "image image.sif"));
    CHECK(has("agents-in-image") == has("tasks-in-image"));
  }
  std::filesystem::remove_all(directory);
}
