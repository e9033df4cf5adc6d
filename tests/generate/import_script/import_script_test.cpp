// SPDX-License-Identifier: MIT
// Existing scripts as requests for another site: what is kept, what is removed, and what is said about it.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

const std::string k_lumi = R"(#!/bin/bash -l
#SBATCH --job-name=train
#SBATCH --partition=standard-g
#SBATCH --account=project_1
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=7
#SBATCH --mem=480G
#SBATCH --time=02:00:00
#SBATCH --mail-type=END

module load LUMI PyTorch
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
export MASTER_PORT=29500
export NCCL_SOCKET_IFNAME=hsn0,hsn1
export WANDB_MODE=offline
DATA=/data/$USER
mkdir -p results/"$SLURM_JOB_ID"  # of this run
srun --cpu-bind=mask_cpu:0xfe000000000000 python train.py --data "$DATA" --out results/$SLURM_JOB_ID > log.txt 2>&1
echo done
)";

} // namespace

TEST_CASE("What people mean stays, what belongs to the old site's nodes is planned anew") {
  const auto result = ported(k_lumi);
  const auto& job = result.job;
  REQUIRE(job.time);
  CHECK(job.time->value.to_slurm() == "02:00:00");
  REQUIRE(job.job_name);
  CHECK(job.job_name->value == "train");
  CHECK_FALSE(job.partition);
  CHECK_FALSE(job.account);
  CHECK_FALSE(job.mem);
  REQUIRE(job.sbatch.size() == 1);
  CHECK(job.sbatch[0].value == "--mail-type=END");
  CHECK(reports(result, "port/left-out", "--partition=standard-g"));
  CHECK(reports(result, "port/left-out", "--account=project_1"));
  CHECK(reports(result, "port/planned", "--mem=480G"));
  CHECK(reports(result, "port/variable", "NCCL_SOCKET_IFNAME"));
  CHECK(reports(result, "port/module", "module load LUMI PyTorch"));
}

TEST_CASE("The number of GPUs stays where the new nodes have fewer each") {
  const auto result = ported(k_lumi); // narval: 4 per node
  REQUIRE(result.job.nodes);
  REQUIRE(result.job.gpus_per_node);
  CHECK(result.job.nodes->value == 4);
  CHECK(result.job.gpus_per_node->value == 4);
  CHECK(reports(result, "port/nodes", "4 nodes with 4 GPUs each instead of 2 nodes with 8 GPUs each"));
}

TEST_CASE("The script's own commands stay as they are, its launch is the new site's") {
  const auto script = written(k_lumi, "narval");
  CHECK(has(script, "export WANDB_MODE=offline\n"));
  CHECK(has(script, "DATA=/data/$USER\n"));
  CHECK(has(script, "mkdir -p results/\"$SLURM_JOB_ID\"  # of this run\n"));
  CHECK(has(script,
            "python train.py --data \"$DATA\" --out results/$SLURM_JOB_ID > log.txt 2>&1\necho done\n"));
  CHECK(has(script, "launch --site narval"));
  CHECK_FALSE(has(script, "standard-g"));
  CHECK_FALSE(has(script, "mask_cpu:0xfe000000000000"));
  CHECK_FALSE(has(script, "MASTER_PORT=29500"));
  CHECK_FALSE(has(script, "hsn0"));
}

TEST_CASE("What starts the program is taken off, however it was started") {
  struct Row {
    std::string launch;
    std::vector<std::string> command, source;
  };
  const std::vector<Row> rows = {
      {"srun python train.py --lr $LR",
       {"python", "train.py", "--lr", "$LR"},
       {"python", "train.py", "--lr", "$LR"}},
      {"srun --ntasks-per-node=1 torchrun --nnodes=2 --nproc_per_node=8 --rdzv_id=$SLURM_JOB_ID train.py "
       "\"$X\"",
       {"python", "train.py", "$X"},
       {"python", "train.py", "\"$X\""}},
      {"python -m torch.distributed.run --nproc_per_node=8 -m pkg.train --a 'b c'",
       {"python", "-m", "pkg.train", "--a", "b c"},
       {"python", "-m", "pkg.train", "--a", "'b c'"}},
      {"srun singularity exec --rocm -B /scratch image.sif python3 train.py",
       {"python3", "train.py"},
       {"python3", "train.py"}},
      {"CMD=\"python train.py --epochs 3\"\nsrun $CMD",
       {"python", "train.py", "--epochs", "3"},
       {"python", "train.py", "--epochs", "3"}},
      {"srun bash -c 'torchrun --node_rank=$SLURM_NODEID --nnodes=2 --nproc_per_node=8 train.py --x 1'",
       {"python", "train.py", "--x", "1"},
       {"python", "train.py", "--x", "1"}},
      {"export L=\"torchrun --nnodes=2 --nproc_per_node 8\"\nexport CMD=\"train.py --out $OUT\"\nsrun "
       "--jobid $SLURM_JOBID bash -c '$L --node_rank $SLURM_PROCID $CMD' | tee log",
       {"bash", "-c", "exec python $CMD"},
       {"bash", "-c", "'exec python $CMD'"}},
      {"export L=\"torchrun --nnodes=2 --nproc_per_node 8\"\nsrun bash -c \"$L --node_rank \\$SLURM_PROCID "
       "x.py --out $OUT\"",
       {"bash", "-c", "exec python x.py --out $OUT"},
       {"bash", "-c", "\"exec python x.py --out $OUT\""}},
      {"srun bash -c 'RANK=$SLURM_PROCID python train.py'",
       {"bash", "-c", "RANK=$SLURM_PROCID python train.py"},
       {"bash", "-c", "'RANK=$SLURM_PROCID python train.py'"}},
      {"accelerate launch --num_processes 16 --num_machines 2 train.py",
       {"python", "train.py"},
       {"python", "train.py"}},
      {"srun ./train_ddp --data d", {"./train_ddp", "--data", "d"}, {"./train_ddp", "--data", "d"}},
      {"srun hostname\nsrun -n16 ./a.out", {"./a.out"}, {"./a.out"}},
  };
  for (const auto& row : rows) {
    INFO(row.launch);
    const auto result =
        ported("#!/bin/bash\n#SBATCH --nodes=2 --gpus-per-node=8 --time=10\n" + row.launch + "\n", "lumi");
    for (const auto& finding : result.findings) UNSCOPED_INFO(finding.message);
    CHECK(result.job.command == row.command);
    REQUIRE(result.job.body);
    std::vector<std::string> source;
    for (const auto& piece : result.job.body->pieces)
      if (!piece.launch.source.empty()) source = piece.launch.source;
    CHECK(source == row.source);
  }
}

TEST_CASE("A launch stays in its loop or condition") {
  const auto script = written("#!/bin/bash\n#SBATCH --nodes=1 --gpus-per-node=8 --time=10\nfor lr in 1 2; "
                              "do\n  if [ -e x ]; then srun python train.py --lr $lr || exit 3; fi\ndone\n",
                              "lumi");
  CHECK(has(script, "for lr in 1 2; do\n  if [ -e x ]; then srun "));
  CHECK(has(script, "python train.py --lr $lr || exit 3; fi\ndone\n"));
}

TEST_CASE("Variables that the kept text reads are kept") {
  const auto result =
      ported("#!/bin/bash\n#SBATCH --gpus-per-node=1 --time=10\nexport OMP_NUM_THREADS=$(nproc)\nexport "
             "MASTER_PORT=12345\nsrun python x.py --port $MASTER_PORT\n",
             "lumi");
  REQUIRE(result.job.body);
  const auto& text = result.job.body->pieces.front().text;
  CHECK(has(text, "MASTER_PORT=12345"));
  CHECK_FALSE(has(text, "OMP_NUM_THREADS"));
}

TEST_CASE("A script that cannot be ported says why") {
  struct Row {
    std::string script, code;
  };
  const std::vector<Row> rows = {
      {"#!/bin/bash\n#SBATCH --nodes=x\nsrun python x.py\n", "slurm/value"},
      {"#!/bin/bash\n#SBATCH -N1\n#SBATCH hetjob\n#SBATCH -N2\nsrun python x.py\n", "port/hetjob"},
      {"#!/bin/bash\n#SBATCH -N1\necho hello\n", "port/no-program"},
      {"#!/bin/bash\n#SBATCH -N1\nsrun torchrun $ALL\n", "port/launch"},
  };
  for (const auto& row : rows) {
    INFO(row.script);
    const auto result = ported(row.script, "lumi");
    CHECK(diag::has_errors(result.findings));
    CHECK(std::any_of(result.findings.begin(), result.findings.end(),
                      [&](const auto& finding) { return finding.code.starts_with(row.code); }));
  }
}

TEST_CASE("import rejects scripts for csh and other shells") {
  struct Case {
    const char* first;
    const char* shell; ///< empty: it is imported
  };
  for (const auto& [first, shell] :
       {Case{"#!/bin/tcsh", "tcsh"}, Case{"#!/usr/bin/env -S python3 -u", "python3"},
        Case{"#!/bin/csh -f", "csh"}, Case{"#! /bin/sh -l", ""}, Case{"#!/usr/bin/env bash", ""},
        Case{"#!/bin/bash -e", ""}}) {
    CAPTURE(first);
    const auto result = ported(std::string(first) + "\n#SBATCH -N 1 --gres=gpu:4 -t 10\nsrun python x.py\n");
    CHECK(reports(result, "port/shell", fmt::format("the script is for {},", shell)) == (shell[0] != 0));
  }
}

TEST_CASE("options without a value or rejected by the site go") {
  const auto result =
      ported(job("-N 1 --gres=gpu:4 --ntasks-per-node=4 --mail-user= --mail-type=ALL --export=ALL",
                 "srun python x.py"),
             "vista");
  CHECK_FALSE(diag::has_errors(result.findings));
  CHECK(
      reports(result, "port/left-out", "'--mail-user=' is not written into the new script: without a value"));
  CHECK(reports(result, "port/left-out",
                "'--export=ALL' is removed: vista rejects --export, and ALL is the default"));
  REQUIRE(result.job.sbatch.size() == 1);
  CHECK(result.job.sbatch.front().value == "--mail-type=ALL");
  CHECK(ported(job("-N 1 --gres=gpu:4 --export=ALL", "srun python x.py"), "lumi").job.sbatch.size() == 1);
}

TEST_CASE("a changed number of nodes in arithmetic is reported") {
  const std::string text = "B=$((1024 / SLURM_NNODES))\nsrun python x.py --batch $B";
  const auto sizes = "--nodes=2 --ntasks-per-node=4 --gpus-per-node=4";
  CHECK(reports(ported(job(sizes, text), "lumi"), "port/numbers",
                "keeps the numbers of the old job: SLURM_NNODES (2)"));
  const std::string index = "L=$((SLURM_NNODES - 1))\nsrun python x.py --last $L";
  CHECK(
      reports(ported(job(sizes, index), "lumi"), "port/nodes", "SLURM_NNODES is 1 in the new job and was 2"));
  CHECK_FALSE(reports(ported(job(sizes, text), "narval"), "port/nodes", "SLURM_NNODES"));
  CHECK_FALSE(reports(ported(job(sizes, "echo $SLURM_NNODES\nsrun python x.py"), "lumi"), "port/nodes",
                      "SLURM_NNODES"));
}

TEST_CASE("import names the line of an unknown program") {
  const auto result =
      ported(job("-N 1 --gres=gpu:1", "srun $(head -n $SLURM_ARRAY_TASK_ID list | tail -n 1)"));
  REQUIRE(reports(result, "port/no-program",
                  "the program that srun starts in line 3 of old.sh is known only when the script runs"));
  for (const auto& finding : result.findings)
    if (finding.code == "port/no-program") CHECK(finding.location.line == 3);
}

TEST_CASE("gen --from rejects a time limit that --time-min cannot shorten") {
  const auto exceeds = [](const std::string& least) {
    auto job_of =
        ported("#!/bin/bash\n#SBATCH --gres=gpu:1 --time=5000 --time-min=" + least + "\npython x.py\n",
               "lumi")
            .job;
    job_of.account = model::Sourced<std::string>{"project_1", {}};
    const auto plan = plan::make_plan(job_of, shipped_site("lumi"));
    return std::any_of(plan.diagnostics.begin(), plan.diagnostics.end(),
                       [](const auto& finding) { return has(finding.message, "exceeds the maximum"); });
  };
  CHECK(exceeds("4000"));
  CHECK_FALSE(exceeds("60"));
}

TEST_CASE("gen --from imports --export=NONE of the script") {
  for (const auto* site : {"narval", "lumi", "vista"}) {
    const auto none = job("--gres=gpu:1 --export=NONE", "python x.py");
    CHECK_FALSE(has(written(none, site), "--export"));
    const auto result = ported(none, site);
    CHECK(std::any_of(result.findings.begin(), result.findings.end(), [](const auto& finding) {
      return finding.severity == diag::Severity::warning &&
             has(finding.message, "'--export=NONE' is removed");
    }));
  }
  CHECK(has(written(job("--gres=gpu:1 --export=PATH,A=1", "python x.py"), "narval"), "--export=ALL,A=1"));
  CHECK(has(written(job("--gres=gpu:1 --export=ALL,A=1", "python x.py"), "narval"), "--export=ALL,A=1"));
}
