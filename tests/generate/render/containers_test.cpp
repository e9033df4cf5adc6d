// SPDX-License-Identifier: MIT
// Scripts for images that are no file before the command: EDFs of the job's own, files that hold folders,
// images of modules.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "flag_values.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "holds.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using test::holds;
using test::text;

namespace {

std::string script_for(const std::string& site, model::JobSpec job) {
  job.account = text(site == "lumi" ? "project_1" : "a1");
  if (site == "lumi") job.partition = text("small-g");
  job.time = model::Sourced<model::Walltime>{*model::Walltime::parse("10"), {}};
  const auto result = plan::make_plan(job, test::shipped_site(site));
  for (const auto& finding : result.diagnostics) UNSCOPED_INFO(finding.message);
  REQUIRE(result.plan);
  const auto script = render::render_script(*result.plan);
  CHECK(test::script_faults(script) == "");
  return script;
}

model::JobSpec python_job(const std::string& image, const std::string& program = "train.py") {
  model::JobSpec job;
  job.command = {"python", program};
  job.container = text(image);
  return job;
}

/// srun that keeps its words and the EDF that it is given.
void put_srun(const test::TempDirectory& directory) {
  test::put_program(directory, "srun",
                    "printf '%s\\n' \"$@\" >> words\nfor word; do [[ $word != --environment=* ]] || cp "
                    "\"${word#*=}\" seen.toml; done\n");
}

} // namespace

TEST_CASE(
    "the job's own EDF inherits from the person's and mounts hpcml and the binds, and is gone at the end") {
  test::TempDirectory directory;
  put_srun(directory);
  auto job = python_job("/users/me/ngc it's.toml");
  job.binds = {text("/capstor/me/data:/data"), text("/capstor/me/x.sqsh:/x")};
  job.hpcml_path = text(test::stand_in_hpcml(directory));
  const auto script = script_for("alps_clariden", job);
  const auto result = test::run_script(script, directory);
  INFO(script << result.err);
  REQUIRE(result.exit_code == 0);
  const auto hpcml = (directory / "hpcml").string();
  CHECK(*util::read_file(directory / "seen.toml") ==
        "base_environment = \"/users/me/ngc it's.toml\"\nmounts = [\"" + hpcml + ":" + hpcml +
            "\", \"/capstor/me/data:/data\", \"/capstor/me/x.sqsh:/x:sqsh\"]\n");
  CHECK(holds(*util::read_file(directory / "words"),
              "--environment=" + (directory / "hpcml-4711.toml").string() + "\n"));
  CHECK_FALSE(std::filesystem::exists(directory / "hpcml-4711.toml"));
}

TEST_CASE("with an EDF that needs nothing more it is given as it is, to steps that run once, too") {
  auto job = python_job("ngc");
  job.launcher = model::Sourced<model::Launcher>{model::Launcher::parse("srun").value(), {}};
  job.steps = {{{"bash", "fetch.sh"}, true}, {{"python", "train.py"}, false}};
  const auto script = script_for("alps_clariden", job);
  CHECK_FALSE(holds(script, "base_environment"));
  CHECK(holds(script, "--cpu-bind=none --environment=ngc \\\n  bash fetch.sh\n"));
}

TEST_CASE("the ranks of a uenv are the host's, with the environment of a file active in each") {
  auto job = python_job("prgenv-gnu/24.11:v1");
  job.venv = text("/capstor/me/env.squashfs");
  const auto script = script_for("alps_daint", job);
  CHECK(holds(script, "#SBATCH --uenv=prgenv-gnu/24.11:v1,/capstor/me/env.squashfs:/capstor/me/env\n"));
  CHECK(holds(script, "source /capstor/me/env/bin/activate && exec \"$@\""));
  CHECK_FALSE(holds(script, "--container --"));
  CHECK_FALSE(holds(script, "base_environment"));
}

TEST_CASE("LUMI's squashed environment and image of a module, as its guides start them") {
  auto job = python_job("PyTorch/2.7.1-rocm-6.2.4-python-3.12-singularity-20250827", "test_packages.py");
  auto script = script_for("lumi", job);
  CHECK(holds(script, "module load LUMI PyTorch/2.7.1-rocm-6.2.4-python-3.12-singularity-20250827\n"));
  CHECK(holds(script, "singularity exec \"$SIF\" python test_packages.py\n"));
  job.container = text("/appl/local/laifs/containers/x.sif");
  job.venv = text("/scratch/project_1/optuna-env.sqsh");
  script = script_for("lumi", job);
  CHECK(holds(script, "--bind /scratch/project_1/optuna-env.sqsh:/user-software:image-src=/"));
  CHECK(holds(script, "source /user-software/bin/activate"));
}
