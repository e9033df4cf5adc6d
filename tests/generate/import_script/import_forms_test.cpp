// SPDX-License-Identifier: MIT
// Scripts without a launcher that is read: what stays in the batch script, and what is rejected with a
// reason.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {
const std::string k_one = "--nodes=1 --ntasks=1 --gres=gpu:1";

} // namespace

TEST_CASE("a script without --output keeps Slurm's log name") {
  CHECK(has(written(job(k_one, "python x.py\nmv slurm-$SLURM_JOB_ID.out d"), "narval"),
            "#SBATCH --output=slurm-%j.out\n"));
  CHECK(has(written(job("--array=0-1 " + k_one, "python x.py"), "narval"),
            "#SBATCH --output=slurm-%A_%a.out\n"));
  CHECK(has(written(job("--output=o.txt " + k_one, "python x.py"), "narval"), "#SBATCH --output=o.txt\n"));
}

TEST_CASE("a continued line before a closing quote is closed") {
  const auto script = written(job("-N 2 --ntasks-per-node=1 --gres=gpu:4",
                                  "export A=$(cat f)\nsrun bash -c \"torchrun --nnodes=2 --nproc_per_node=4 "
                                  "x.py \\\n  $A \\\n  \"\necho b"),
                              "narval");
  CHECK(has(script, "x.py \\\n  $A\"\necho b"));
}
