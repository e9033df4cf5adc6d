// SPDX-License-Identifier: MIT
// Python environments: what a site can build, and where an environment is activated.
#include <catch2/catch.hpp>

#include "core/util/text.hpp"
#include "generate/plan/plan_helper.hpp"
#include "generate/plan/requirements.hpp"
#include "holds.hpp"

using namespace hpcml;
using test::holds;
using test::text;

namespace {

model::JobSpec job_for(const std::string& site_id) {
  model::JobSpec job = test::job_of({"python", "train.py"});
  job.nodes = test::flag(2u, "--nodes");
  if (site_id == "lumi") job.account = text("project_1");
  if (site_id == "narval") job.account = text("def-me");
  if (site_id == "zurada") job.mem = test::flag(test::mem_of("16G"));
  if (site_id == "generic") job.gpus_per_node = test::flag(1u);
  return job;
}

model::JobSpec lumi_container(const std::string& bind = {}) {
  model::JobSpec job = job_for("lumi");
  job.container = text("/images/torch.sif");
  if (!bind.empty()) job.binds = {text(bind)};
  return job;
}

} // namespace

TEST_CASE("gen warns if ranks would use invisible GPUs") {
  const auto warned = [](const std::string& site, const std::string& program, bool all = false) {
    auto job = job_for(site);
    job.program_text = program;
    if (all) job.gpu_visibility = test::flag(model::GpuVisibilityMode::all);
    for (const auto& finding : plan::make_plan(job, test::site_named(site)).diagnostics)
      if (finding.code == "request/gpu-visibility") return true;
    return false;
  };
  // LUMI's profile shows each rank its own GPU.
  for (const char* use :
       {"torch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n", "torch.cuda.set_device(local_rank)\n",
        "device = f\"cuda:{local_rank}\"\n", "model = DDP(model, device_ids=[args.local_rank])\n",
        "device = torch.device(\"cuda\", local_rank)\n"}) {
    CAPTURE(use);
    CHECK(warned("lumi", use));
    CHECK_FALSE(warned("lumi", use, true));
    CHECK_FALSE(warned("lumi", use + std::string("print(torch.cuda.device_count())\n")));
    CHECK_FALSE(warned("alps_daint", use)); // each rank sees all GPUs
  }
  CHECK_FALSE(warned("lumi", ""));
  CHECK_FALSE(warned("lumi", "torch.cuda.set_device(0)\nprint(os.environ['LOCAL_RANK'])\n"));
}

TEST_CASE("a wheelhouse is refused where the site has none, with what works there instead") {
  struct Case {
    const char* site;
    const char* instead;
  };
  for (const auto& example : std::vector<Case>{{"lumi", "--container IMAGE"},
                                               {"lumi", "--venv PATH"},
                                               {"vista", "--venv PATH"},
                                               {"vista", "--container IMAGE"},
                                               {"zurada", "--conda NAME"},
                                               {"generic", "--venv PATH"}}) {
    CAPTURE(example.site);
    auto job = job_for(example.site);
    job.wheelhouse = text("torch");
    const auto error = test::error_of(job, example.site, "request/wheelhouse");
    CHECK(holds(error.message, "wheel"));
    CHECK(holds(error.hint, example.instead));
  }
  auto job = job_for("zurada"); // no engine in its profile: the hint does not send there
  job.wheelhouse = text("torch");
  CHECK_FALSE(holds(test::error_of(job, "zurada", "request/wheelhouse").hint, "--container"));
}

TEST_CASE("an environment per node lies in Slurm's folder of the job, or in one that names user and job") {
  auto job = job_for("narval");
  CHECK(test::planned(job, "narval").python.where == "$SLURM_TMPDIR/env");
  CHECK_FALSE(test::planned(job, "narval").python.remove);

  model::Site bare = test::site_named("narval");
  bare.python.front().where.clear();
  bare.node_types.front().local_disk = "/tmp";
  const auto result = plan::make_plan(job, bare);
  REQUIRE(result.plan);
  CHECK(holds(result.plan->python.where, "/tmp/hpcml-$UID-$SLURM_JOB_ID-"));
  CHECK(result.plan->python.remove);
}

TEST_CASE("gen rejects paths with variables that jobs lack") {
  auto job = job_for("leonardo");
  job.venv = text("$SLURM_TMPDIR/env");
  CHECK(
      holds(test::error_of(job, "leonardo", "usage/venv").message, "'SLURM_TMPDIR', which jobs on leonardo"));
  job = job_for("narval");
  job.venv = text("$SLURM_TMPDIR/env");
  CHECK(test::planned(job, "narval").python.where == "$SLURM_TMPDIR/env");
}

TEST_CASE("an environment is activated inside the image, by the name that it has there") {
  auto job = lumi_container("/project/me:/workdir");
  job.venv = text("/project/me/env");
  auto plan = test::planned(job, "lumi");
  CHECK(plan.python.kind == model::PythonEnvironmentKind::venv);
  CHECK(plan.python.where == "/workdir/env");
  CHECK(test::has_note(plan, "'/workdir/env', the path of the environment '/project/me/env'"));

  job.venv = text("/workdir/env"); // the container's own name for it
  CHECK(test::planned(job, "lumi").python.where == "/workdir/env");
  job.venv = text("env"); // below the working directory, which the engine shows
  CHECK(test::planned(job, "lumi").python.where == "env");
  job.venv.reset();
  job.conda = text("mine"); // a name of the image's own conda
  CHECK(test::planned(job, "lumi").python.where == "mine");
  job.conda = text("/project/me/conda/mine");
  CHECK(test::planned(job, "lumi").python.where == "/workdir/conda/mine");
  job.binds = {text("/project/me")};
  CHECK(test::planned(job, "lumi").python.where == "/project/me/conda/mine");
}

TEST_CASE("an environment that the image does not show is refused, with the bind that would show it") {
  auto job = lumi_container("/project/me:/workdir");
  job.venv = text("/scratch/me/env");
  auto error = test::error_of(job, "lumi", "usage/bind");
  CHECK(holds(error.message, "/scratch/me/env"));
  CHECK(holds(error.hint, "--bind /scratch/me/env"));
  job.venv = text("/project/me2/env"); // a sibling with the same beginning
  test::error_of(job, "lumi", "usage/bind");
  job.venv.reset();
  job.conda = text("/scratch/me/conda");
  CHECK(holds(test::error_of(job, "lumi", "usage/bind").hint, "--bind /scratch/me/conda"));
}

TEST_CASE("modules for an environment on the host are not loaded for one inside an image") {
  model::JobSpec job = job_for("vista");
  job.venv = text("env");
  CHECK(test::planned(job, "vista").modules.size() == 3);
  job.container = text("/images/torch.sif");
  const auto plan = test::planned(job, "vista");
  REQUIRE(plan.modules.size() == 1);
  CHECK(plan.modules[0].name == "tacc-apptainer");
}

TEST_CASE("a wheelhouse and an image exclude each other") {
  auto job = job_for("narval");
  job.wheelhouse = text("torch");
  job.container = text("/images/torch.sif");
  job.gpus_per_node = test::flag(1u); // uncounted, they would have a word of their own
  model::Site with_engine = test::site_named("narval");
  with_engine.containers.emplace_back();
  with_engine.containers.back().engine = model::ContainerEngine::apptainer;
  const auto result = plan::make_plan(job, with_engine);
  REQUIRE_FALSE(result.plan);
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].code == "usage/wheelhouse");
}

TEST_CASE("hpcml's path on the compute nodes is absolute") {
  auto job = job_for("lumi");
  job.hpcml_path = text("bin/hpcml");
  CHECK(holds(test::error_of(job, "lumi", "usage/hpcml-path").hint, "/"));
  job.launcher = test::launcher("srun"); // a plain script has no use for it
  test::planned(job, "lumi");
}

TEST_CASE("a requirements file is one word with a slash, or one that ends with .txt") {
  for (const std::string file : {"reqs.txt", " reqs.txt", "reqs.txt ", "a/b", "/x/reqs"}) {
    CAPTURE(file);
    const auto found = plan::requirements_file(file);
    REQUIRE(found);
    CHECK(file.find(*found) != std::string::npos);
    CHECK(found->find(' ') == std::string::npos);
  }
  for (const auto* packages : {"", "torch", "torch numpy", "torch reqs.txt", "--index-url=http://x", "-r/x"})
    CHECK_FALSE(plan::requirements_file(packages));
}

TEST_CASE("each installer takes the files that it reads") {
  using plan::PackageInstaller;
  const auto words = [](const std::string& text, PackageInstaller installer) {
    diag::Diagnostics findings;
    auto found = plan::requirement_words(text, "--packages", findings, installer);
    if (diag::has_errors(findings)) found = {"error: " + findings.front().message};
    return util::join(found, " ");
  };
  CHECK(words("env.yml", PackageInstaller::conda) == "-r env.yml");
  CHECK(words("env.yml", PackageInstaller::pip) ==
        "error: 'env.yml' is a conda environment, which pip does not read");
  CHECK(words("a/uv.lock", PackageInstaller::uv) == "-r a/uv.lock");
  CHECK(holds(words("uv.lock", PackageInstaller::pip), "error: 'uv.lock'"));
  CHECK(words("pyproject.toml", PackageInstaller::pip) == ".");
  CHECK(words("/p/pyproject.toml", PackageInstaller::pip) == "/p");
  CHECK(words("/p/pyproject.toml", PackageInstaller::uv) == "-r /p/pyproject.toml");
  CHECK(words("torch numpy>=1.26", PackageInstaller::pip) == "torch numpy>=1.26");
  CHECK(words("torch[a,b] numpy>=1,<2", PackageInstaller::pip) == "torch[a,b] numpy>=1,<2");
  CHECK(words("torch,numpy", PackageInstaller::pip) == "error: 'torch,numpy' is not a valid requirement");
}

TEST_CASE("jobs without GPUs set ACCELERATE_USE_CPU") {
  const auto value_of = [](const std::string& launcher, unsigned gpus) -> std::string {
    auto job = job_for("generic");
    job.gpus_per_node = test::flag(gpus, "--gpus-per-node");
    if (!launcher.empty()) job.launcher = test::launcher(launcher);
    const auto plan = test::planned(job, "generic");
    const auto* variable = test::variable(plan, "ACCELERATE_USE_CPU");
    return variable == nullptr ? "" : variable->value;
  };
  for (const auto* launcher : {"", "torchrun", "accelerate", "srun"}) {
    INFO(launcher);
    CHECK(value_of(launcher, 0) == "true");
    CHECK(value_of(launcher, 1).empty());
  }
}
