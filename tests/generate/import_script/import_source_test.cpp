// SPDX-License-Identifier: MIT
// What a script shows of the site that it was written for, and what follows from it: GPUs that nobody asks
// for, modules, names of hosts and programs that only that site has.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

const std::string k_vista =
    "#!/bin/bash\n#SBATCH -J torch -p gh-dev -N 2 -n 2 -t 01:00:00\nmodule load gcc cuda\n"
    "module load python3_mpi\nibrun -np 2 python3 test.py c123-456\n";

} // namespace

TEST_CASE("whole nodes have their GPUs without a request") {
  for (const auto* to : {"vista", "zurada", "lumi", "narval"}) {
    INFO(to);
    const auto result = ported(k_vista, to);
    CHECK_FALSE(diag::has_errors(result.findings));
    CHECK(result.job.command == std::vector<std::string>{"python3", "test.py", "c123-456"});
    REQUIRE(result.job.gpus_per_node);
    CHECK(result.job.gpus_per_node->value > 0);
    CHECK(result.job.nodes->value * result.job.gpus_per_node->value == 2);
  }
  CHECK_FALSE(has(written(k_vista, "vista"), "--gpus-per-node 0"));
}

TEST_CASE("a CPU job stays a CPU job") {
  const auto result = ported("#!/bin/bash\n#SBATCH -p gg -N 2 -n 2 -t 10\nibrun python3 x.py\n", "vista");
  REQUIRE(result.job.gpus_per_node);
  CHECK(result.job.gpus_per_node->value == 0);
  CHECK(reports(ported(job("--ntasks=1 --mem=4G", "python x.py"), "leonardo"), "port/gpus",
                "requests no GPUs"));
}

TEST_CASE("a CPU job keeps memory if the site takes it") {
  const auto text = job("--ntasks=1 --mem=4G", "python x.py");
  CHECK(ported(text, "narval").job.mem);
  CHECK_FALSE(ported(text, "vista").job.mem);
}

TEST_CASE("modules stay on the site that they are of") {
  const auto own = written(k_vista, "vista");
  CHECK(has(own, "\nmodule load gcc cuda\nmodule load python3_mpi\n"));
  const auto moved = ported(k_vista, "zurada");
  CHECK(reports(moved, "port/module", "has no module gcc, cuda"));
  CHECK_FALSE(has(written(k_vista, "zurada"), "module load gcc"));
  const auto zurada =
      "#!/bin/bash\n#SBATCH --partition=gpu2h100 --gpus-per-node=2 --ntasks-per-node=2 --time=10\n"
      "module load miniforge3/25.3.1-gcc-11.4.1\nconda activate pytorch\nsrun python x.py\n";
  CHECK(has(written(zurada, "zurada"), "module load miniforge3/25.3.1-gcc-11.4.1\nconda activate pytorch\n"));
}

TEST_CASE("a module's version goes with the site that has it") {
  const std::string kempner = "#!/bin/bash\n#SBATCH --partition=kempner_h100 --account=lab --nodes=1 "
                              "--ntasks-per-node=4 --gpus-per-node=4 --time=30\n"
                              "module load python/3.10.13-local01\nsrun python train.py\n";
  const auto script = written(kempner, "rorqual");
  CHECK_FALSE(has(script, "3.10.13"));
  CHECK(has(script, "module load StdEnv/2023 python"));
  const auto alliance = job("--gpus-per-node=1 --account=def-me",
                            "module load python/3.11\nvirtualenv --no-download $SLURM_TMPDIR/env\n"
                            "source $SLURM_TMPDIR/env/bin/activate\npython x.py");
  CHECK(has(written(alliance, "rorqual"), "module load python/3.11"));
}

TEST_CASE("what only an older Slurm takes is taken") {
  const auto result = ported(job("--nodes=2 --ntasks-per-node=1 --gpus-per-node=4 --gres=gpu:4",
                                 "srun torchrun --nnodes=2 --nproc_per_node=4 train.py"),
                             "leonardo");
  CHECK_FALSE(diag::has_errors(result.findings));
}

TEST_CASE("host names with the old site's suffix are reported") {
  const std::string text =
      "#!/bin/bash\n#SBATCH --account=training1 --partition=booster --nodes=1 --gres=gpu:4 --time=30\n"
      "A=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
      "export ADDR=$(nslookup \"${A}i\" | grep -oP '(?<=Address: ).*')\n"
      "srun python train.py --address $ADDR\n";
  CHECK(reports(ported(text, "stampede3"), "port/host-suffix", "'i'"));
  CHECK_FALSE(reports(ported(text, "juwels_booster"), "port/host-suffix", "'i'"));
}

TEST_CASE("programs in PATH of the old site are reported") {
  const auto text =
      job("--partition=gpu --ntasks-per-node=4 --gres=gpu:v100:4", "srun apptainer_wrapper exec python x.py");
  CHECK(reports(ported(text, "raven"), "port/program", "apptainer_wrapper"));
  CHECK(reports(ported(job("--gpus-per-node=4 --ntasks-per-node=4", "srun my_runner x.py"), "raven"),
                "port/program", "my_runner"));
  CHECK_FALSE(reports(ported(job("--gpus-per-node=4 --ntasks-per-node=4", "srun ./my_runner x.py"), "raven"),
                      "port/program", "my_runner"));
}

TEST_CASE("variables of another scheduler get Slurm's values") {
  const auto script = written(job("--gpus-per-node=1", "cd $PBS_O_WORKDIR\npython x.py"), "narval");
  CHECK(has(script, "export PBS_O_WORKDIR=\"${SLURM_SUBMIT_DIR-}\"\ncd $PBS_O_WORKDIR\n"));
}

TEST_CASE("a placeholder for the account is replaced by the request") {
  const std::string text =
      "#!/bin/bash\n#SBATCH --gres=gpu:1 --time=10\n#SBATCH --account=<your account>\npython x.py\n";
  CHECK(diag::has_errors(ported(text, "narval").findings));
  import_script::RequestOverrides chosen;
  chosen.account = "def-me";
  CHECK_FALSE(diag::has_errors(ported(text, "narval", chosen).findings));
}

TEST_CASE("an import without a Python environment is reported") {
  const auto warns = [](const std::string& lines) {
    auto result = ported(job("--nodes=1 --gpus-per-node=8 --ntasks-per-node=8", lines), "lumi");
    REQUIRE_FALSE(diag::has_errors(result.findings));
    result.job.account = model::Sourced<std::string>{"project_1", {}};
    const auto plan = plan::make_plan(result.job, shipped_site("lumi"));
    return std::any_of(plan.diagnostics.begin(), plan.diagnostics.end(),
                       [](const auto& finding) { return finding.code == "request/python"; });
  };
  CHECK(warns("module load PyTorch/2.3\nsrun python x.py"));
  CHECK(warns("echo start\nsrun python3 -u x.py"));
  CHECK(warns("echo 'no conda activate yet' # PATH=\nsrun python x.py"));
  CHECK(warns("cat >note <<E\nsource env\nE\nsrun mkdir d\nsrun python x.py"));
  CHECK_FALSE(warns("python -m venv e\nsrun python x.py"));
  CHECK_FALSE(warns("source /e/bin/activate\nsrun python x.py"));
  CHECK_FALSE(warns("export PATH=/e/bin:$PATH\nsrun python x.py"));
  CHECK_FALSE(warns("if true; then conda activate e; fi\nsrun python x.py"));
  CHECK_FALSE(warns("srun /e/bin/python x.py"));
  CHECK_FALSE(warns("srun ./train.sh"));
}
