// SPDX-License-Identifier: MIT
// The job scripts of the five documents that hpcml serves, at their own site and at each other's: as many
// ranks with the same GPUs each, the same program.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

struct Document {
  std::string name, own_site, text;
  unsigned ranks, gpus_per_rank;
  std::vector<std::string> command;
};

const std::string k_alliance_head = "#!/bin/bash\n#SBATCH --nodes 1\n#SBATCH --tasks-per-node=1\n"
                                    "#SBATCH --cpus-per-task=1 # change this parameter to 2,4,6,...\n"
                                    "#SBATCH --mem=8G\n#SBATCH --time=0:05:00\n#SBATCH --output=%N-%j.out\n";
const std::string k_alliance_setup =
    "module load python\n# Using Default Python version - Make sure to choose a version that suits your "
    "application\n"
    "virtualenv --no-download $SLURM_TMPDIR/env\nsource $SLURM_TMPDIR/env/bin/activate\n"
    "pip install torch torchvision --no-index\necho \"starting training...\"\n";

std::vector<Document> documents() {
  return {
      {"alliance pytorch-test.sh",
       "narval",
       "#!/bin/bash\n#SBATCH --gres=gpu:1       # Request GPU \"generic resources\"\n#SBATCH "
       "--cpus-per-task=6\n"
       "#SBATCH --mem=32000M\n#SBATCH --time=0-03:00\n#SBATCH --output=%N-%j.out\nmodule load python/3.11\n"
       "virtualenv --no-download $SLURM_TMPDIR/env\nsource $SLURM_TMPDIR/env/bin/activate\n"
       "pip install torch --no-index\n\npython pytorch-test.py\n",
       1,
       1,
       {"python", "pytorch-test.py"}},
      {"alliance pytorch-multi-cpu.sh",
       "narval",
       k_alliance_head + k_alliance_setup + "time python cifar10-cpu.py\n",
       1,
       0,
       {"python", "cifar10-cpu.py"}},
      {"alliance pytorch-single-gpu.sh",
       "narval",
       k_alliance_head + "#SBATCH --gres=gpu:1 # request a GPU\n" + k_alliance_setup +
           "time python cifar10-gpu.py --batch_size=512 --num_workers=0\n",
       1,
       1,
       {"python", "cifar10-gpu.py", "--batch_size=512", "--num_workers=0"}},
      {"server notes pytorch-test.sh",
       "narval",
       "#!/bin/bash\n#SBATCH --gpus-per-node=2\n#SBATCH --cpus-per-task=12\n#SBATCH --mem=32000M\n"
       "#SBATCH --time=0-03:00\n#SBATCH --output=%N-%j.out #Node_Name-Job_id.out\nmodule load python/3.11\n"
       "virtualenv --no-download $SLURM_TMPDIR/env\nsource $SLURM_TMPDIR/env/bin/activate\n"
       "pip install torch --no-index\n\npython train.py\n",
       1,
       2,
       {"python", "train.py"}},
      {"LUMI batch script",
       "lumi",
       "#!/bin/bash -e\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n#SBATCH --tasks-per-node=8\n"
       "#SBATCH --cpus-per-task=7\n#SBATCH --output=\"output_%x_%j.txt\"\n#SBATCH --partition=standard-g\n"
       "#SBATCH --mem=480G\n#SBATCH --time=00:10:00\n#SBATCH --account=project_1\n\n"
       "PROJECT_DIR=/project/your_project/your_directory\nCONTAINER=$PROJECT_DIR/"
       "your-container-image.sif\n\nc=fe\n"
       "MYMASKS=\"0x${c}000000000000,0x${c}00000000000000,0x${c}0000,0x${c}000000,0x${c},0x${c}00,"
       "0x${c}00000000,0x${c}0000000000\"\n\nsrun --cpu-bind=mask_cpu:$MYMASKS \\\n  singularity exec \\\n"
       "    -B /var/spool/slurmd \\\n    -B /opt/cray \\\n    -B /usr/lib64/libcxi.so.1 \\\n"
       "    -B /usr/lib64/libjansson.so.4 \\\n    -B $PROJECT_DIR:/workdir \\\n    $CONTAINER "
       "/workdir/run-pytorch.sh\n",
       32,
       1,
       {"/workdir/run-pytorch.sh"}},
      {"Vista, two nodes",
       "vista",
       "#!/bin/bash\n#SBATCH -p gh-dev -N 2 -n 2 -t 01:00:00\nmodule load gcc cuda\nmodule load python3_mpi\n"
       "source $SCRATCH/python-envs/test/bin/activate\nibrun -np 2 python3 test.py c123-456\n",
       2,
       1,
       {"python3", "test.py", "c123-456"}},
      {"Vista, one node",
       "vista",
       "#!/bin/bash\n#SBATCH -p gh-dev -N 1 -n 1 -t 1:00:00\nmodule load gcc cuda\nmodule load python3\ncd "
       "$SCRATCH\n"
       "python3 examples/distributed/ddp-tutorial-series/single_gpu.py 50 10\n",
       1,
       1,
       {"python3", "examples/distributed/ddp-tutorial-series/single_gpu.py", "50", "10"}},
      {"Zurada, one node",
       "zurada",
       "#!/bin/bash\n#SBATCH --job-name=ddp_single_node\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=2\n"
       "#SBATCH --gpus-per-node=2\n#SBATCH --cpus-per-task=16\n#SBATCH --time=01:00:00\n"
       "#SBATCH --partition=gpu2h100\n\nmodule load miniforge3/25.3.1-gcc-11.4.1\nconda activate pytorch\n\n"
       "export OMP_NUM_THREADS=16\nexport OMP_PLACES=cores\nexport OMP_PROC_BIND=close\n"
       "export OMP_STACKSIZE=512m\n\nsrun python3 -m torch.distributed.run \\\n     --standalone \\\n     "
       "--nnodes=1 \\\n"
       "     --nproc-per-node=2 \\\n    /path/to/train.py\n",
       2,
       1,
       {"python3", "/path/to/train.py"}},
      {"Zurada, two nodes",
       "zurada",
       "#!/bin/bash\n#SBATCH --job-name=ddp_multi_node\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4\n"
       "#SBATCH --gpus-per-node=2\n#SBATCH --cpus-per-task=4\n#SBATCH --time=02:00:00\n"
       "#SBATCH --partition=gpu2h100\n\nmodule load miniforge3/25.3.1-gcc-11.4.1\nconda activate pytorch\n\n"
       "export MASTER_ADDR=`ip -j addr | jq -r '.[] | select(.ifname == \"bond0\") | .addr_info[] | "
       "select(.family == \"inet\") | .local'`\n"
       "export MASTER_PORT=`comm -23 <(seq 1024 65535 | sort) <(ss -Htan | awk '{print $4}' | cut -d':' -f2 "
       "| "
       "sort -u) | shuf | head -n 1`\n\nsrun python -m torch.distributed.run \\\n     "
       "--nnodes=$SLURM_JOB_NUM_NODES \\\n"
       "     --nproc_per_node=2 \\\n     --rdzv_id=$SLURM_JOB_ID \\\n     --rdzv_backend=c10d \\\n"
       "     --rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT \\\n    train.py\n",
       4,
       1,
       {"python", "train.py"}},
  };
}

/// What becomes of a document's script at a site: its plan, or why there is none.
struct Outcome {
  std::optional<model::Plan> plan;
  std::string refusal;
};

Outcome import_to(const Document& document, const std::string& site) {
  auto result = ported(document.text, site);
  Outcome outcome;
  const auto take = [&](const diag::Diagnostics& findings) {
    for (const auto& finding : findings)
      if (finding.severity == diag::Severity::error) outcome.refusal += finding.message + "\n";
  };
  take(result.findings);
  if (!outcome.refusal.empty()) return outcome;
  CHECK(result.job.command == document.command);
  result.job.account = model::Sourced<std::string>{site == "narval" ? "def-me" : "project_1", {}};
  const auto plan = plan::make_plan(result.job, shipped_site(site));
  take(plan.diagnostics);
  outcome.plan = plan.plan;
  return outcome;
}

} // namespace

TEST_CASE("the documents' scripts keep their intent at their own site") {
  for (const auto& document : documents()) {
    INFO(document.name);
    const auto outcome = import_to(document, document.own_site);
    INFO(outcome.refusal);
    REQUIRE(outcome.plan);
    const auto& layout = outcome.plan->layout;
    CHECK(layout.world_size() == document.ranks);
    CHECK(layout.gpus_per_rank == document.gpus_per_rank);
    const auto script = render::render_script(*outcome.plan);
    for (const auto* line : {"module load", "conda activate", "source $", "virtualenv "})
      for (auto at = document.text.find(std::string("\n") + line); at != std::string::npos;
           at = document.text.find(std::string("\n") + line, at + 1)) {
        const auto end = document.text.find('\n', at + 1);
        CHECK_THAT(script, Catch::Contains(document.text.substr(at, end - at + 1)));
      }
  }
}

TEST_CASE("the documents' scripts keep their intent at each other's sites") {
  for (const auto& document : documents())
    for (const auto* site : {"narval", "lumi", "vista", "zurada"}) {
      if (site == document.own_site) continue;
      INFO(document.name << " at " << site);
      const auto outcome = import_to(document, site);
      if (!outcome.plan) {
        // Zurada's profile knows no engine for images, a GH200 node has one GPU, and CPU jobs need a
        // partition.
        const bool image = document.own_site == "lumi" && has(outcome.refusal, "container");
        const bool gpus = has(outcome.refusal, "each process uses 2 GPUs, but a node of vista has 1");
        const bool cpus =
            document.gpus_per_rank == 0 && has(outcome.refusal, "no default partition for CPU jobs");
        INFO(outcome.refusal);
        CHECK((image || gpus || cpus));
        continue;
      }
      CHECK(outcome.plan->layout.world_size() == document.ranks);
      CHECK(outcome.plan->layout.gpus_per_rank == document.gpus_per_rank);
    }
}
