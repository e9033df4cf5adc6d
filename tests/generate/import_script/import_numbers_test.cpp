// SPDX-License-Identifier: MIT
// What the old script computes from its nodes and GPUs: the same results on other nodes.
#include "generate/import_script/import_helper.hpp"
#include "generate/import_script/layout_arithmetic.hpp"
#include "generate/import_script/visible_devices.hpp"

using namespace hpcml;
using namespace hpcml::test;
using import_script::counts_gpus;

namespace {
const std::string k_two_nodes = "--nodes=2 --ntasks-per-node=4 --gpus-per-node=4";
} // namespace

TEST_CASE("arguments that count GPUs or nodes keep their value") {
  const std::string four = "--nodes=1 --gres=gpu:4";
  CHECK(has(written(job(four, "python x.py --gpus $(nvidia-smi -L | wc -l)"), "lumi"), "x.py --gpus 4\n"));
  CHECK(has(written(job(four, "python x.py --gpus $(nvidia-smi -L | wc -l)"), "narval"), "-L | wc -l)\n"));
  const std::string agents = "--nodes=2 --ntasks-per-node=1 --gpus-per-node=4";
  const auto script = written(job(agents, "N=${SLURM_NTASKS}\nsrun torchrun --nnodes=$SLURM_NTASKS "
                                          "--nproc_per_node=4 x.py --nodes $SLURM_NPROCS --n $N"),
                              "narval");
  CHECK(has(script, "N=${SLURM_NNODES}\n"));
  CHECK(has(script, "x.py --nodes $SLURM_NNODES --n $N\n"));
  CHECK(
      has(written(job(k_two_nodes, "srun python x.py --n $SLURM_NTASKS"), "narval"), "--n $SLURM_NTASKS\n"));
}

TEST_CASE("batch sizes computed from nodes and GPUs keep their value") {
  struct Row {
    std::string lines, kept;
  };
  // Two nodes with four GPUs become one with eight on LUMI.
  const std::vector<Row> rows = {
      {"BS=$((1024 / SLURM_NNODES))\nsrun python x.py --bs $BS", "BS=$((1024 / 2))"},
      {"BS=$((1024 / $SLURM_JOB_NUM_NODES))\nsrun python x.py --bs $BS", "BS=$((1024 / 2))"},
      {"BS=$(( 1024/${SLURM_NNODES} ))\nsrun python x.py --bs $BS", "BS=$(( 1024/2 ))"},
      {"BS=$(expr 1024 / $SLURM_NNODES)\nsrun python x.py --bs $BS", "BS=$(expr 1024 / 2)"},
      {"BS=`expr 1024 / $SLURM_NNODES`\nsrun python x.py --bs $BS", "BS=`expr 1024 / 2`"},
      {"LR=$(echo \"0.1 * $SLURM_NNODES\" | bc)\nsrun python x.py --lr $LR", "LR=$(echo \"0.1 * 2\" | bc)"},
      {"LR=$(python3 -c \"print(0.1 * $SLURM_NNODES)\")\nsrun python x.py --lr $LR", "print(0.1 * 2)"},
      {"LR=$(awk -v n=$SLURM_NNODES 'BEGIN {print 0.1 * n}')\nsrun python x.py --lr $LR", "awk -v n=2"},
      {"srun python x.py --bs $((1024 / SLURM_NNODES))", "--bs $((1024 / 2))"},
      {"let BS=1024/SLURM_NNODES\nsrun python x.py --bs $BS", "let BS=1024/2"},
      {"BS=$[1024/SLURM_NNODES]\nsrun python x.py --bs $BS", "BS=$[1024/2]"},
      {"declare -i BS=1024/SLURM_NNODES\nsrun python x.py --bs $BS", "declare -i BS=1024/2"},
      {"((BS = 1024 / SLURM_NNODES))\nsrun python x.py --bs $BS", "((BS = 1024 / 2))"},
      {"IFS=, read -ra G <<< \"$CUDA_VISIBLE_DEVICES\"\nN=${#G[@]}\nsrun python x.py --bs $((64/N))",
       "--bs $((64/4))"},
      {"for w in 1 2; do\n  BS=$((w * 512 / SLURM_NNODES))\n  srun python x.py --bs $BS\ndone",
       "BS=$((w * 512 / 2))"},
      {"BS=$((SLURM_NNODES * 64 / SLURM_GPUS_ON_NODE))\nsrun python x.py --bs $BS", "BS=$((2 * 64 / 4))"},
      {"BS=$((64 * SLURM_NNODES + SLURM_GPUS_ON_NODE))\nsrun python x.py --bs $BS", "BS=$((64 * 2 + 4))"},
      {"for w in 1 2; do\n  BS=$((SLURM_NNODES * w / SLURM_GPUS_ON_NODE))\n  srun python x.py --bs $BS\ndone",
       "BS=$((2 * w / 4))"},
      {"for w in 1 2; do\n  BS=$((w * (SLURM_NNODES + SLURM_GPUS_ON_NODE)))\n  srun python x.py --bs "
       "$BS\ndone",
       "BS=$((w * (2 + 4)))"},
      {"N=$SLURM_NNODES\nBS=$((1024 / N))\nsrun python x.py --bs $BS", "BS=$((1024 / 2))"},
      {"BS=$((1024 / SLURM_GPUS_ON_NODE))\nsrun python x.py --bs $BS", "BS=$((1024 / 4))"},
      {"G=$(nvidia-smi -L | wc -l)\nBS=$((1024 / G))\nsrun python x.py --bs $BS", "BS=$((1024 / 4))"},
      {"BS=$((1024 / $(echo $CUDA_VISIBLE_DEVICES | tr ',' '\\n' | wc -l)))\nsrun python x.py --bs $BS",
       "BS=$((1024 / 4))"},
      {"G=$(python -c 'import torch; print(torch.cuda.device_count())')\nBS=$((1024 / G))\n"
       "srun python x.py --bs $BS",
       "BS=$((1024 / 4))"},
  };
  for (const auto& row : rows) {
    INFO(row.lines);
    CHECK(has(written(job(k_two_nodes, row.lines), "lumi"), row.kept));
  }
}

TEST_CASE("expressions whose value does not change stay") {
  for (const std::string lines :
       {"BS=$((1024 / (SLURM_NNODES * SLURM_GPUS_ON_NODE)))", "BS=$((1024 / SLURM_NTASKS))",
        "BS=$((1024 / SLURM_NNODES / SLURM_GPUS_ON_NODE))", "LAST=$((SLURM_NNODES - 1))",
        "BS=$((1024 / 4))"}) {
    INFO(lines);
    const auto script = written(job(k_two_nodes, lines + "\nsrun python x.py --bs $BS $LAST"), "lumi");
    CHECK(has(script, lines));
  }
  // The same nodes.
  CHECK(has(written(job(k_two_nodes, "BS=$((1024 / SLURM_NNODES))\nsrun python x.py --bs $BS"), "narval"),
            "BS=$((1024 / SLURM_NNODES))"));
}

TEST_CASE("commands that count GPUs are known") {
  for (const auto* command :
       {"$(nvidia-smi -L | wc -l)", "$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)",
        "$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\\n' | wc -l)",
        "$(jq -n \"[$CUDA_VISIBLE_DEVICES] | length\")",
        "$(echo $CUDA_VISIBLE_DEVICES | awk -F, '{print NF}')", "$(rocm-smi --showid | grep -c GPU)",
        "$(python -c 'import torch; print(torch.cuda.device_count())')"}) {
    INFO(command);
    CHECK(counts_gpus(command));
  }
  for (const auto* command : {"$(nvidia-smi)", "$(cat hosts | wc -l)", "$(scontrol show hostnames | wc -l)",
                              "$(echo $CUDA_VISIBLE_DEVICES | grep -o , | wc -l)"}) {
    INFO(command);
    CHECK_FALSE(counts_gpus(command));
  }
}

TEST_CASE("a count of GPUs that would fail becomes a number") {
  const auto lines = "G=$(nvidia-smi -L | wc -l)\nsrun python x.py --gpus $G";
  CHECK(has(written(job(k_two_nodes, lines), "lumi"), "G=8\n"));
  CHECK(has(written(job(k_two_nodes, lines), "narval"), "G=$(nvidia-smi -L | wc -l)\n"));
}

TEST_CASE("lists of the old node's devices are removed") {
  for (const std::string lines : {"export CUDA_VISIBLE_DEVICES=0,1,2,3\n",
                                  "export CUDA_VISIBLE_DEVICES=\"0,1,2,3\"\necho $CUDA_VISIBLE_DEVICES\n",
                                  "if [ -z \"$X\" ]; then\n  export CUDA_VISIBLE_DEVICES=0,1,2,3\nfi\n"}) {
    INFO(lines);
    const auto script = written(job(k_two_nodes, "X=1\n" + lines + "srun python x.py"), "lumi");
    CHECK_FALSE(has(script, "VISIBLE_DEVICES=0"));
    CHECK_FALSE(has(script, "VISIBLE_DEVICES=\"0"));
  }
}

TEST_CASE("a list of fewer devices limits the request") {
  const auto text = job("--nodes=1 --ntasks-per-node=2 --gpus-per-node=4",
                        "export CUDA_VISIBLE_DEVICES=0,1\nsrun python x.py");
  CHECK(planned(text, "narval").layout.gpus_per_node == 2);
}

TEST_CASE("the other vendor's program replaces nvidia-smi where that only prints") {
  const auto script = [](const std::string& lines) {
    return written(job(k_two_nodes, lines + "\nsrun python x.py"), "lumi");
  };
  CHECK(has(script("nvidia-smi"), "\nrocm-smi\n"));
  CHECK(has(script("echo a && nvidia-smi && echo b"), "echo a && rocm-smi && echo b"));
  CHECK(has(script("nvidia-smi -q && echo b"), "rocm-smi && echo b"));
  CHECK(has(script("command -v nvidia-smi && echo b"), "command -v nvidia-smi && echo b"));
  CHECK(has(script("nvidia-smi dmon -s u > gpu.log &"), "nvidia-smi dmon -s u > gpu.log &"));
  CHECK(has(written(job(k_two_nodes, "srun bash -c 'nvidia-smi && python x.py'"), "lumi"),
            "rocm-smi && python"));
  CHECK(has(written(job(k_two_nodes, "nvidia-smi\nsrun python x.py"), "narval"), "\nnvidia-smi\n"));
}

TEST_CASE("shells of ranks choose no devices") {
  using import_script::without_device_settings;
  CHECK(without_device_settings("'export CUDA_VISIBLE_DEVICES=$((3-SLURM_LOCALID)); python x.py'") ==
        "'true; python x.py'");
  CHECK(without_device_settings("\"export CUDA_VISIBLE_DEVICES=\\$((3-SLURM_LOCALID));\n python x.py\"") ==
        "\"true;\n python x.py\"");
  CHECK(without_device_settings("'ROCR_VISIBLE_DEVICES=$SLURM_LOCALID python x.py'") == "'python x.py'");
  CHECK(without_device_settings("'export CUDA_VISIBLE_DEVICES=0,1,2,3 && python x.py'") ==
        "'true && python x.py'");
  CHECK(without_device_settings("\"A=1 CUDA_VISIBLE_DEVICES=0 B=2 python x.py\"") ==
        "\"A=1 B=2 python x.py\"");
  for (const std::string kept :
       {"'export CUDA_VISIBLE_DEVICES=$MY_GPUS; python x.py'", "x.py", "''", "'echo $CUDA_VISIBLE_DEVICES'"})
    CHECK(without_device_settings(kept) == kept);
  std::vector<std::string> words = {"env", "A=1", "CUDA_VISIBLE_DEVICES=$SLURM_LOCALID", "python", "x.py"};
  import_script::drop_device_settings(words);
  CHECK(words == std::vector<std::string>{"env", "A=1", "python", "x.py"});
  words = {"python", "x.py", "--set", "CUDA_VISIBLE_DEVICES=0"};
  import_script::drop_device_settings(words);
  CHECK(words.back() == "CUDA_VISIBLE_DEVICES=0");
}

TEST_CASE("CPUs of an agent are not those of a rank") {
  const auto script = [](const std::string& tasks, const std::string& launch) {
    return written(job("--nodes=1 --cpus-per-task=56 --gpus-per-node=8 --ntasks-per-node=" + tasks,
                       launch + " x.py --workers $((SLURM_CPUS_PER_TASK / SLURM_GPUS_PER_NODE))"),
                   "lumi");
  };
  CHECK(has(script("1", "srun torchrun --nproc_per_node=8 --standalone"),
            "--workers $((56 / SLURM_GPUS_PER_NODE))"));
  CHECK(has(script("8", "srun python"), "--workers $((SLURM_CPUS_PER_TASK / SLURM_GPUS_PER_NODE))"));
}

TEST_CASE("a configuration below a variable's directory keeps accelerate") {
  const auto script =
      written(job("--nodes=4 --ntasks-per-node=1 --gres=gpu:4",
                  "export DIR=\"${DIR:-/accelerate}\"\nexport L=\"accelerate launch --config_file "
                  "${DIR}/fsdp.yaml --num_processes 16 --num_machines $SLURM_NNODES\"\n"
                  "export CMD=\"$L ${DIR}/x.py --a 1\"\nsrun $CMD"),
              "narval");
  CHECK(has(script, "accelerate launch"));
  CHECK(has(script, "/fsdp.yaml"));
}

TEST_CASE("variables that only arithmetic reads stay") {
  const auto script =
      written(job("--nodes=1 --gpus-per-node=4", "GPUS=4\ntorchrun --standalone "
                                                 "--nproc_per_node=$GPUS x.py --bs $((64 / GPUS))"),
              "narval");
  CHECK(has(script, "GPUS=4\n"));
}

TEST_CASE("a list of devices before a launch is removed") {
  const auto script = written(
      job("--nodes=1 --gpus-per-node=4", "CUDA_VISIBLE_DEVICES=0,1 A=1 torchrun --nproc_per_node=2 x.py"),
      "narval");
  CHECK_FALSE(has(script, "CUDA_VISIBLE_DEVICES"));
  CHECK(has(script, "A=1 srun"));
  for (const std::string before :
       {"CUDA_VISIBLE_DEVICES=0,1 ", "ROCR_VISIBLE_DEVICES=0,1 CUDA_VISIBLE_DEVICES=0,1 ",
        "if true; then CUDA_VISIBLE_DEVICES=0,1 ", "echo a; export CUDA_VISIBLE_DEVICES=0,1; "}) {
    INFO(before);
    const auto end = before.starts_with("if") ? "; fi" : "";
    CHECK_FALSE(
        has(written(job("--nodes=1 --gpus-per-node=4", before + "torchrun --nproc_per_node=2 x.py" + end),
                    "narval"),
            "VISIBLE_DEVICES="));
  }
}

TEST_CASE("ranks of MPI launchers are those of the new launcher") {
  const auto script = written(
      job(k_two_nodes,
          "mpirun -np 8 bash -c 'python x.py --rank $OMPI_COMM_WORLD_RANK --world $OMPI_COMM_WORLD_SIZE'"),
      "narval");
  CHECK(has(script, "--rank $RANK --world $WORLD_SIZE"));
  const auto mvapich = written(
      job(k_two_nodes, "mpirun -np 8 bash -c 'python x.py --local $MV2_COMM_WORLD_LOCAL_SIZE'"), "narval");
  CHECK(has(mvapich, "--local $LOCAL_WORLD_SIZE"));
}

TEST_CASE("import rejects ranks computed for other nodes") {
  const auto rejects = [](const std::string& step, const std::string& id) {
    return reports(ported(job("-N 2 --ntasks-per-node=4 --gpus-per-node=4", step), id), "port/variable",
                   "computes its rank");
  };
  const std::string step = "srun bash -c 'export RANK=$((SLURM_NODEID * 4 + SLURM_LOCALID)); python x.py'";
  CHECK(rejects(step, "vista"));
  CHECK(rejects("srun bash -c 'RANK=$((${SLURM_NODEID}*4+$SLURM_LOCALID)) python x.py'", "vista"));
  CHECK_FALSE(rejects(step, "narval"));
  CHECK_FALSE(rejects("srun bash -c 'export RANK=$SLURM_PROCID; python x.py'", "vista"));
  CHECK_FALSE(rejects("srun bash -c 'export SEED=$((SLURM_NODEID * 4)); python x.py'", "vista"));
}

TEST_CASE("import rejects sizes of Slurm that the script sets") {
  const auto rejects = [](const std::string& line) {
    return reports(
        ported(job("-N 2 --ntasks-per-node=4 --gpus-per-node=4", line + "\nsrun python x.py"), "vista"),
        "port/launch", "which srun of the script for vista reads");
  };
  CHECK(rejects("export SLURM_NNODES=1"));
  CHECK(rejects("if true; then\n  SLURM_GPUS_PER_NODE=2\nfi"));
  CHECK_FALSE(rejects("SLURM_NNODES=${SLURM_NNODES:-1}"));
  CHECK_FALSE(rejects("export SLURM_EXPORT_ENV=ALL"));
}

TEST_CASE("idle GPUs of whole nodes are not counted") {
  const auto script =
      written(job("-N 1 --ntasks=1 --gpus-per-node=1", "N=$SLURM_GPUS_ON_NODE\nB=$(expr 64 / $N)\n"
                                                       "torchrun --nproc_per_node $N x.py --b $B"),
              "lumi");
  CHECK(has(script, "\nSLURM_GPUS_ON_NODE=1 # read below, and set to all GPUs of the node by Slurm\n"));
}
