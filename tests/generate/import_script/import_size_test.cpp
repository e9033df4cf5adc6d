// SPDX-License-Identifier: MIT
// The world of the old script on other nodes: as many ranks with as many GPUs each, and the same view of
// them.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

TEST_CASE("Tasks and GPUs stay as many, however the old script asked for them") {
  struct Row {
    std::string directives, line, site;
    unsigned nodes, ranks, gpus;
  };
  const std::vector<Row> rows = {
      {"--nodes=2 --ntasks=4 --ntasks-per-node=2 --gpus-per-task=1", "srun python x.py", "narval", 2, 2, 2},
      {"--ntasks=2 --gpus-per-task=1", "srun python x.py", "narval", 1, 2, 2},
      {"--ntasks=4 --ntasks-per-node=2 --gpus-per-task=1", "srun python x.py", "narval", 2, 2, 2},
      {"--nodes=2 --ntasks-per-node=1 --gpus-per-node=4",
       "srun --gpus-per-task=4 torchrun --nproc_per_node=4 x.py", "narval", 2, 4, 4},
      {"--nodes=1 --ntasks=2 --gres=gpu:8", "srun --gpus-per-task=4 torchrun --nproc_per_node=4 x.py", "lumi",
       1, 8, 8},
      {"--ntasks=2 --gpus-per-task=4", "srun torchrun --nproc_per_node=4 x.py", "narval", 2, 4, 4},
      {"-N 2", "srun -n 16 --ntasks-per-node=8 --gpus-per-node=8 --gpu-bind=closest python x.py", "narval", 4,
       4, 4},
      {"-N 2 --gres=gpu:4", "n=$((4*$SLURM_JOB_NUM_NODES))\nsrun -n$n python x.py", "narval", 2, 4, 4},
      {"-N 2 --gres=gpu:4",
       "srun accelerate launch --num_processes $(expr $SLURM_NNODES \\* 4) --num_machines "
       "$SLURM_NNODES x.py",
       "narval", 2, 4, 4},
      {"-N 2 --ntasks-per-node=1 --gres=gpu:4", "srun torchrun --nproc_per_node=gpu --nnodes=2 x.py",
       "narval", 2, 4, 4},
      {"-N 2 --ntasks-per-node=1 --gres=gpu:4", "deepspeed --hostfile=h x.py", "narval", 2, 4, 4},
      {"-N 2 --ntasks-per-node=1 --gres=gpu:4",
       "bash -c \"accelerate launch --num_machines $SLURM_NNODES --machine_rank $SLURM_PROCID \\\n"
       "  --num_processes 8 --main_process_ip $H x.py --bf16 \\\n  ${HUB:+--push $HUB}\"",
       "narval", 2, 4, 4},
      {"-N 2 --ntasks-per-node=1 --gres=gpu:4", "torchrun --nproc_per_node=4 x.py", "narval", 1, 4, 4},
      {"-N 1 --gres=gpu:2", "python script.py", "narval", 1, 1, 2},
      {"-N 1 --gres=gpu:4", "deepspeed --include localhost:0,1 x.py", "narval", 1, 2, 2},
      {"-N 1 --gres=gpu:4", "torchrun --nproc_per_node=$(nvidia-smi -L | wc -l) x.py", "narval", 1, 4, 4},
      {"-N 1 --ntasks=1 --gres=gpu:4", "srun --gpus=2 python x.py", "narval", 1, 1, 2},
      {"-N 1 --ntasks=1 --gres=gpu:4", "srun --gres=gpu:1 python x.py", "narval", 1, 1, 1},
      {"-N 1 --ntasks-per-node=1 --gres=gpu:4", "srun python spawn.py", "narval", 1, 1, 4},
      {"-N 2 --ntasks-per-node=2 --gres=gpu:4", "srun python x.py", "narval", 2, 2, 4},
      {"-N 1 --ntasks-per-node=6 --gres=gpu:6", "srun python x.py", "narval", 2, 3, 3},
      {"-N 3 --ntasks-per-node=8 --exclusive", "export NCCL_DEBUG=INFO\nsrun python x.py", "narval", 6, 4, 4},
      {"-N 2 --ntasks-per-node=4 --gres=gpu:4", "srun python x.py", "lumi", 1, 8, 8},
      {"-w old[1-2] --ntasks-per-node=4 --gres=gpu:4", "srun python x.py", "narval", 2, 4, 4},
  };
  for (const auto& row : rows) {
    INFO(row.directives << " | " << row.line << " | " << row.site);
    const auto plan = planned(job(row.directives, row.line), row.site);
    CHECK(plan.layout.nodes == row.nodes);
    CHECK(plan.layout.ranks_per_node == row.ranks);
    CHECK(plan.layout.gpus_per_node == row.gpus);
  }
}

TEST_CASE("Ranks see the GPUs that they saw") {
  struct Row {
    std::string directives, line;
    std::string seen;
  };
  const std::vector<Row> rows = {
      {"-N 1 --gpus-per-node=8 --ntasks-per-node=1", "srun torchrun --nproc_per_node=8 x.py", "all"},
      {"-N 1 --gpus-per-node=8 --ntasks-per-node=8", "srun python x.py", "all"},
      {"-N 1 --ntasks=8 --gpus-per-task=1", "srun python x.py", "own"},
      {"-N 1 --gpus-per-node=8 --ntasks-per-node=8", "srun --gpu-bind=closest python x.py", "own"},
      {"-N 1 --ntasks=8 --gpus-per-task=1", "srun --gpu-bind=none python x.py", "all"},
  };
  for (const auto& row : rows) {
    INFO(row.directives << " | " << row.line);
    CHECK(has(written(job(row.directives, row.line), "lumi"), "--gpu-visibility " + row.seen + " "));
  }
}

TEST_CASE("Where GPUs are asked for by the task, ranks that see all of them are an agent's or refused") {
  const auto own = written(job("-N 1 --ntasks=4 --gpus-per-task=1", "srun python x.py"), "dardel");
  CHECK(has(own, "--gpus-per-task=1"));
  const auto agent = written(
      job("-N 2 --ntasks-per-node=1 --gpus-per-node=8", "srun torchrun --nnodes=2 --nproc_per_node=8 x.py"),
      "dardel");
  CHECK(has(agent, "torchrun --nnodes=\"$SLURM_NNODES\" --nproc_per_node=8"));
  const auto all = ported(job("-N 1 --ntasks-per-node=8 --gpus-per-node=8", "srun python x.py"), "dardel");
  CHECK(reports(all, "port/gpu-visibility", "but on dardel each rank sees only its own"));
  CHECK(diag::has_errors(all.findings));
  import_script::RequestOverrides chosen;
  chosen.gpu_visibility = true;
  CHECK_FALSE(diag::has_errors(
      ported(job("-N 1 --ntasks-per-node=8 --gpus-per-node=8", "srun python x.py"), "dardel", chosen)
          .findings));
}

TEST_CASE("What cannot be the same world is refused with its reason") {
  const auto worlds = ported(
      job("-N 2 --ntasks-per-node=1 --gres=gpu:4", "srun torchrun --standalone --nproc_per_node=4 x.py"),
      "narval");
  CHECK(reports(worlds, "port/worlds", "a separate training"));
  const auto script = ported(job("-N 1 --ntasks-per-node=1 --gres=gpu:8", "srun python spawn.py"), "narval");
  CHECK(reports(script, "port/nodes", "each process uses 8 GPUs, but a node of narval has 4"));
  const auto beside =
      ported(job("-N 1 --gres=gpu:2", "srun -n1 python a.py &\nsrun -n1 python b.py &\nwait"), "narval");
  CHECK(reports(beside, "port/parallel", "in parallel with other"));
  const auto either =
      ported(job("-N 1 --gres=gpu:2 --ntasks-per-node=2",
                 "if [ -n \"$A\" ]; then srun python a.py &\nelse srun python b.py\nfi\nwait"),
             "narval");
  CHECK_FALSE(diag::has_errors(either.findings));
}

TEST_CASE("What sbatch got on its command line the request gives") {
  const auto text = job("--ntasks-per-node=4 --gpus-per-task=1", "srun python x.py");
  const auto without = ported(text, "narval");
  CHECK(diag::has_errors(without.findings));
  CHECK(std::any_of(without.findings.begin(), without.findings.end(),
                    [](const auto& finding) { return has(finding.hint, "--nodes N"); }));
  import_script::RequestOverrides chosen;
  chosen.nodes = true;
  const auto with = ported(text, "narval", chosen);
  CHECK_FALSE(diag::has_errors(with.findings));
  REQUIRE(with.job.gpus_per_node);
  CHECK(with.job.gpus_per_node->value == 4);
  chosen.node_count = 1;
  CHECK(reports(ported(text, "zurada", chosen), "port/nodes",
                "--nodes 1 gives 2 ranks on zurada, but the old job had 4"));
  CHECK_FALSE(reports(ported(text, "narval", chosen), "port/nodes", "--nodes 1 gives"));
}

TEST_CASE("GPUs that a site counts and nobody uses are said") {
  CHECK(reports(ported(job("-N 1 --ntasks-per-node=4 --gres=gpu:4", "srun python x.py"), "lumi"),
                "port/idle-gpus", "leaves 4 GPUs of each node idle"));
  const auto counted =
      ported(job("-N 2 --ntasks-per-node=4 --gres=gpu:4", "srun python x.py --gpus=4 --nodes=2"), "lumi");
  CHECK(counted.job.nodes->value == 2);
  CHECK(reports(counted, "port/idle-gpus", "4 GPUs of each node"));
  const auto spread =
      ported(job("-N 1 --ntasks-per-node=8 --gres=gpu:8", "srun python x.py --devices 8"), "narval");
  CHECK(reports(spread, "port/arguments", "--devices 8"));
}

TEST_CASE("A step per node stays one per node, and one that runs once stays so") {
  const auto script =
      written(job("-N 2 --ntasks-per-node=4 --gres=gpu:4",
                  "srun --ntasks=$SLURM_JOB_NUM_NODES --ntasks-per-node=1 bash -c 'cp a \"$TMPDIR\"'\n"
                  "srun -n1 python prepare.py\nsrun python x.py"),
              "narval");
  CHECK(has(script, "srun --ntasks=2 --ntasks-per-node=1 --cpu-bind=none"));
  CHECK(has(script, "bash -c 'cp a \"$TMPDIR\"'"));
  CHECK(has(script, "--nodes=1 --ntasks=1"));
}

TEST_CASE("A job that is longer than the usual QoS gets the one that holds it") {
  const auto result = ported("#!/bin/bash\n#SBATCH --time=01:00:00 --nodes=2 --gpus-per-node=4 "
                             "--ntasks-per-node=4\nsrun python x.py\n",
                             "perlmutter");
  REQUIRE(result.job.qos);
  CHECK(result.job.qos->value == "regular");
  CHECK(reports(result, "port/qos", "debug"));
}

TEST_CASE("gen --from keeps the count of accelerators named otherwise") {
  for (const std::string gres : {"dcu:4", "npu:4", "dcu:z100:4", "lscratch:100,mlu:4"}) {
    INFO(gres);
    const auto script = job("--nodes=1 --gres=" + gres, "python train.py");
    CHECK(planned(script, "narval").layout.gpus_per_node == 4);
    CHECK_FALSE(reports(ported(script), "port/gpus", "requests no GPUs"));
  }
  CHECK(planned(job("--nodes=1 --gres=lscratch:100", "python train.py"), "narval").layout.gpus_per_node == 0);
}

TEST_CASE("gen --from warns when a GPU partition gets no GPUs") {
  // "booster" and "standard-g" are partitions of profiles, whose sites give GPUs to jobs that request them.
  for (const std::string partition : {"qgpu", "booster", "standard-g"}) {
    INFO(partition);
    const auto result = ported(job("--nodes=1 --partition=" + partition, "python train.py"));
    CHECK(reports(result, "port/gpus", ""));
  }
  CHECK_FALSE(reports(ported(job("--nodes=1 --partition=standard", "python train.py")), "port/gpus", ""));
}

TEST_CASE("import reads Slurm's variables that have a default") {
  const auto sizes = [](const std::string& count) {
    return ported(job("--nodes=1 --gpus-per-node=4", "torchrun --nproc_per_node=" + count + " x.py"),
                  "narval");
  };
  for (const std::string count :
       {"${SLURM_GPUS_ON_NODE:-8}", "${SLURM_GPUS_ON_NODE-8}", "$((${SLURM_NNODES:-2} * 4))"}) {
    CAPTURE(count);
    CHECK_FALSE(reports(sizes(count), "port/size", "known only at run time"));
  }
  for (const std::string count : {"${N:-2}", "${SLURM_NTASKS_PER_NODE:-2}"})
    CHECK(reports(sizes(count), "port/size", "known only at run time"));
}
