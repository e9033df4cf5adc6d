// SPDX-License-Identifier: MIT
// What the old script computes from its nodes and GPUs: the same results on other nodes.
#include "generate/import_script/import_helper.hpp"
#include "generate/import_script/layout_arithmetic.hpp"

using namespace hpcml;
using namespace hpcml::test;
using import_script::counts_gpus;

namespace {
const std::string k_two_nodes = "--nodes=2 --ntasks-per-node=4 --gpus-per-node=4";
} // namespace

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
      {"for w in 1 2; do\n  BS=$((w * 512 / SLURM_NNODES))\n  srun python x.py --bs $BS\ndone",
       "BS=$((w * 512 / 2))"},
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
        "LAST=$((SLURM_NNODES - 1))", "BS=$((1024 / 4))"}) {
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
