// SPDX-License-Identifier: MIT
// hpcml gen --from as a person runs it, up to the ported job on the other site's Slurm.
#include <catch2/catch.hpp>
#include <chrono>
#include <set>

#include "cli/workspace_helper.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

const std::string k_lumi = R"sh(#!/bin/bash
#SBATCH --partition=standard-g --account=project_1 --nodes=1 --gpus-per-node=8 --ntasks-per-node=8 --time=10
module load LUMI
export MASTER_ADDR=$(hostname)
OUT=results
mkdir -p "$OUT"
srun --cpu-bind=mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,0xfe00,0xfe00000000,0xfe0000000000 \
  bash -c 'echo "$RANK of $WORLD_SIZE on $(uname -n)" > '"$OUT"'/$RANK'
echo "end $?" > end
)sh";

} // namespace

TEST_CASE("a script is written for another site, with what changes said on standard error") {
  Workspace workspace;
  workspace.put("old.sh", k_lumi);
  const auto result =
      workspace.hpcml({"gen", "--site", "zurada", "--partition", "gpu2h100", "--from", "old.sh"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(holds(result.out, "#SBATCH --nodes=4\n"));
  CHECK(holds(result.out, "OUT=results\nmkdir -p \"$OUT\"\nsrun "));
  CHECK(holds(result.err, "old.sh:2:9: note: '--partition=standard-g' is removed"));
  CHECK(holds(result.err, "4 nodes with 2 GPUs each instead of 1 node with 8 GPUs each"));
}

TEST_CASE("a script's launches become an agent's where that is asked for, torchrun's as well") {
  Workspace workspace;
  workspace.put("old.sh", k_lumi);
  const std::vector<std::string> words = {"gen",       "--site", "lumi", "--account",
                                          "project_1", "--time", "10",   "--from"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return workspace.hpcml(more);
  };
  const auto plain = with({"old.sh", "--log-dir", "logs"});
  INFO(plain.err);
  REQUIRE(plain.exit_code == 0);
  CHECK(holds(plain.out, "#SBATCH --ntasks-per-node=1\n"));
  CHECK(holds(plain.out, "mkdir -p \"$OUT\"\nsrun --ntasks-per-node=1 --cpu-bind=none "));
  CHECK(holds(plain.out, " --nproc-per-node 8 "));
  CHECK(holds(plain.out, " --log-dir logs -- "));
  workspace.put("elastic.sh",
                "#!/bin/bash\n#SBATCH --nodes=2 --gpus-per-node=8 --ntasks-per-node=1\n"
                "srun torchrun --nnodes=2 --nproc-per-node=8 --max-restarts=3 --rdzv_backend=c10d "
                "--rdzv_endpoint=$H:29500 train.py\n");
  CHECK(holds(with({"elastic.sh"}).out, "--max-restarts=3"));
  const auto ours = with({"elastic.sh", "--max-restarts", "2"});
  INFO(ours.err);
  REQUIRE(ours.exit_code == 0);
  CHECK_FALSE(holds(ours.out, "\n  torchrun"));
  CHECK(holds(ours.out, "--nproc-per-node 8 "));
  CHECK(holds(ours.out, " --max-restarts 2 -- "));
  CHECK(holds(ours.err, "torchrun option '--max-restarts' is removed"));
  // The larger number of nodes is the job's: the script's own gives way to it.
  const auto fewer = with({"elastic.sh", "--nnodes", "1:4"});
  INFO(fewer.err);
  REQUIRE(fewer.exit_code == 0);
  CHECK(holds(fewer.out, "#SBATCH --nodes=4\n"));
  CHECK(holds(fewer.out, " --kill-on-bad-exit=0 --no-kill "));
}

TEST_CASE("a script that cannot be ported gives no file and its place") {
  Workspace workspace;
  workspace.put("old.sh", "#!/bin/bash\n#SBATCH --nodes=two\nsrun python x.py\n");
  const auto wrong = workspace.hpcml(
      {"gen", "--site", "lumi", "--account", "project_1", "--from", "old.sh", "-o", "new.sh"});
  CHECK(wrong.exit_code == 3);
  CHECK(holds(wrong.err, "old.sh:2:9: error:"));
  CHECK(workspace.read("new.sh").empty());
  CHECK(workspace.hpcml({"gen", "--site", "lumi", "--from", "nowhere.sh"}).exit_code == 3);
  // A script of gen is no script to import: its command is in it.
  REQUIRE(workspace
              .hpcml({"gen", "--site", "lumi", "--account", "project_1", "--time", "10", "-o", "own.sh", "--",
                      "python", "train.py"})
              .exit_code == 0);
  const auto own = workspace.hpcml({"gen", "--site", "leonardo", "--account", "p", "--from", "own.sh"});
  CHECK(own.exit_code == 3);
  CHECK(own.out.empty());
  CHECK(holds(own.err, "hpcml gen wrote this script"));
  CHECK(holds(own.err, "again with --site leonardo"));
  workspace.put("good.sh", "#!/bin/bash\n#SBATCH --time=10 --gpus-per-node=8\nsrun python x.py\n");
  CHECK(workspace
            .hpcml({"gen", "--site", "lumi", "--account", "project_1", "--from", "good.sh", "--", "python",
                    "y.py"})
            .exit_code == 2);
  CHECK(workspace
            .hpcml({"gen", "--site", "lumi", "--account", "project_1", "--from", "good.sh", "--time", "20"})
            .out.find("--time=00:20:00") != std::string::npos);
}

TEST_CASE("an import reports the intent of both jobs") {
  Workspace workspace;
  workspace.put("old.sh", k_lumi);
  const auto result =
      workspace.hpcml({"gen", "--site", "zurada", "--partition", "gpu2h100", "--from", "old.sh"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(holds(result.err, "ranks          8 (1 node x 8)"));
  CHECK(holds(result.err, "8 (4 nodes x 2)\n"));
  CHECK(holds(result.err, "GPUs per rank  1"));
  CHECK(holds(result.err, "runs         once per rank"));
  CHECK(result.err.find("warning:") < result.err.find("note:"));
  std::size_t lines = 0;
  for (const auto& line : util::split(util::trim(result.err), '\n')) lines += holds(line, ": note: ") ? 1 : 0;
  CHECK(lines > 5);
  CHECK_FALSE(holds(result.err, "\n  hint:"));
}

TEST_CASE("an import keeps the order of steps in its table") {
  Workspace workspace;
  workspace.put("old.sh", "#!/bin/bash\n#SBATCH -N1 --gpus-per-node=8 --ntasks-per-node=8 -t 10\n"
                          "srun -n1 mkdir -p out\nsrun python train.py\n");
  const auto result = workspace.hpcml({"gen", "--site", "vista", "--account", "p", "--from", "old.sh"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  // A `*` marks what differs: neither the programs nor how often they run.
  CHECK(holds(result.err, "\n   program        mkdir -p out         mkdir -p out\n"));
  CHECK(holds(result.err, "\n   program        python train.py      python train.py\n"));
}

TEST_CASE("an import takes linear time") {
  Workspace workspace;
  const std::string head = "#!/bin/bash\n#SBATCH --time=10 --gpus-per-node=8\nsrun ";
  workspace.put("word.sh", head + std::string(200000, 'x') + " python x.py\n");
  const auto start = std::chrono::steady_clock::now();
  workspace.hpcml({"gen", "--site", "lumi", "--account", "project_1", "--from", "word.sh"});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK(
      workspace.hpcml({"gen", "--site", "lumi", "--account", "project_1", "--from", "/dev/zero"}).exit_code ==
      3);
}

TEST_CASE("a script written for LUMI runs on an emulated Zurada", "[slurm]") {
  Workspace workspace;
  workspace.put("old.sh", k_lumi);
  const auto result = workspace.emulate(
      "zurada", 4,
      "$H gen --site zurada --partition gpu2h100 --from old.sh -o new.sh && sbatch -W new.sh; cat *.out",
      "gpu2h100");
  INFO(result.out << result.err);
  CHECK(util::trim(workspace.read("end")) == "end 0");
  std::set<std::string> places;
  for (int rank = 0; rank < 8; ++rank) {
    const auto text = workspace.read("results/" + std::to_string(rank));
    INFO(text);
    CHECK(text.starts_with(std::to_string(rank) + " of 8 on "));
    places.insert(text.substr(text.find("on ")));
  }
  CHECK(places.size() == 4);
}

TEST_CASE("an import reports added options and whole rows") {
  Workspace workspace;
  workspace.put("old.sh",
                "#!/bin/bash\n#SBATCH -N1 --gpus-per-node=8 --ntasks-per-node=8 -t 10 -c 6 -A other\n"
                "export A=1\nsource /e/bin/activate\n"
                "srun python train.py --data /p/scratch/project/data/of/mine --epochs 20 --lr 3e-4 --x\n");
  const auto result = workspace.hpcml({"gen", "--site", "lumi", "--account", "project_1", "--container",
                                       "/x.sif", "--env", "HF_HOME=/h", "--from", "old.sh"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(holds(result.err, "old.sh: note: '--job-name=old' is added: sbatch names a job after its script"));
  CHECK(holds(result.err, "old.sh: note: '--mem=480G' is added: the profile of lumi"));
  CHECK_FALSE(holds(result.err, "'--nodes=1' is added"));
  CHECK(holds(result.err, "*  CPUs per rank  6 "));
  CHECK(holds(result.err, " 20 --lr 3e-4 --x\n")); // the end of the program's arguments
  CHECK_FALSE(holds(result.err, "..."));
  CHECK(
      holds(result.err,
            "'--account=other' is removed: --account=project_1 of the request replaces it [port/left-out]"));
  CHECK(holds(result.err, "image of --container, which must contain the packages of this environment"));
  CHECK(holds(result.err, "(remove --container from hpcml gen to keep it)"));
  CHECK(holds(result.err, "variables      A"));
  CHECK(holds(result.err, "HF_HOME"));
  for (const auto& line : util::split(result.err, '\n'))
    if (!holds(line, "old.sh:") && !holds(line, "hpcml:")) CHECK(line.size() <= 100);
}
