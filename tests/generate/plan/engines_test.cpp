// SPDX-License-Identifier: MIT
// Sites with several ways to run images, and environments that are one file, on the product's profiles.
#include <catch2/catch.hpp>

#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

model::JobSpec in_image(const std::string& site, const std::string& image) {
  auto job = job_of({"python", "train.py"});
  job.account = text(site == "lumi" ? "project_1" : "a1");
  if (site == "lumi") job.partition = text("small-g");
  job.container = text(image);
  return job;
}

model::Sourced<model::ContainerEngine> engine(model::ContainerEngine which) {
  return flag(which, "--container-engine");
}

std::vector<std::string> modules(const model::Plan& plan) {
  std::vector<std::string> names;
  for (const auto& module : plan.modules) names.push_back(module.name);
  return names;
}

} // namespace

TEST_CASE("of several engines the image's form chooses, and the request may") {
  for (const auto* site : {"alps_clariden", "alps_daint", "alps_santis", "alps_bristen"}) {
    CAPTURE(site);
    for (const auto* image : {"/users/me/ngc.toml", "ngc"}) {
      CAPTURE(image);
      const auto plan = planned(in_image(site, image), site);
      CHECK(plan.container->engine == model::ContainerEngine::edf);
      CHECK(plan.container->step_options ==
            std::vector<std::string>{"--environment={image}"}); // with the EDF that the job writes
      CHECK(has_note(plan, "--container-engine uenv"));
      CHECK_FALSE(directive(plan, "--uenv"));
    }
    for (const auto* image : {"pytorch/v2.9.1", "prgenv-gnu/24.11:v1", "pytorch/v2.8.0:/user-environment",
                              "/scratch/me/mine.squashfs"}) {
      CAPTURE(image);
      const auto plan = planned(in_image(site, image), site);
      CHECK(plan.container->engine == model::ContainerEngine::uenv);
      CHECK(directive(plan, "--uenv") == image);
      CHECK(directive(plan, "--view") == "default");
      CHECK(plan.container->step_options.empty());
    }
    auto job = in_image(site, "pytorch");
    job.container_engine = engine(model::ContainerEngine::uenv);
    const auto plan = planned(job, site);
    CHECK(directive(plan, "--uenv") == "pytorch");
    CHECK_FALSE(has_note(plan, "--container-engine"));
    job.container_engine = engine(model::ContainerEngine::pyxis);
    CHECK_THAT(error_of(job, site, "request/container-engine").hint, Catch::Contains("edf, uenv"));
    CHECK_THAT(error_of(in_image(site, "/project/me/torch.sif"), site, "request/container").hint,
               Catch::Contains("--container-engine"));
  }
  auto none = job_of({"python", "train.py"});
  none.account = text("a1");
  none.container_engine = engine(model::ContainerEngine::uenv);
  CHECK_THAT(error_of(none, "alps_daint", "usage/container-engine").hint,
             Catch::Contains("--container IMAGE"));
}

TEST_CASE("NCCL's settings for the plugin of a uenv are those of jobs in one") {
  const auto uenv = planned(in_image("alps_daint", "pytorch/v2.9.1"), "alps_daint");
  REQUIRE(variable(uenv, "NCCL_NET"));
  CHECK(variable(uenv, "NCCL_NET")->value == "AWS Libfabric");
  CHECK(variable(uenv, "NCCL_NET")->scope == model::ValueScope::batch);
  CHECK(variable(uenv, "MPICH_GPU_SUPPORT_ENABLED")); // the host's rules hold, too: its files are there
  CHECK(uenv.caches.size() == 1);
  const auto edf = planned(in_image("alps_daint", "ngc"), "alps_daint");
  CHECK(variable(edf, "NCCL_NET") == nullptr); // its hook sets them
  CHECK(edf.caches.empty());
  auto bare = in_image("alps_daint", "");
  bare.container.reset();
  CHECK(variable(planned(bare, "alps_daint"), "NCCL_NET") ==
        nullptr); // NCCL stops where the plugin is missing
}

TEST_CASE("folders that an EDF does not mount are in the one that the job writes; a uenv needs no bind") {
  auto job = in_image("alps_clariden", "ngc");
  job.binds = {text("/capstor/me/data:/data")};
  const auto plan = planned(job, "alps_clariden");
  CHECK(plan.container->own_edf);
  REQUIRE(plan.container->binds.size() == 1);
  CHECK(plan.container->binds[0].inside() == "/data");
  job.binds.clear();
  job.launcher = launcher("srun");
  CHECK_FALSE(planned(job, "alps_clariden").container->own_edf); // nothing to add
  job = in_image("alps_clariden", "pytorch/v2.9.1");
  job.binds = {text("/capstor/me/data:/data")};
  CHECK_THAT(error_of(job, "alps_clariden", "request/bind").hint,
             Catch::Contains("sees the directories of the host"));
  job = in_image("alps_clariden", "/users/me/a\"b.toml");
  CHECK_THAT(error_of(job, "alps_clariden", "usage/container").message, Catch::Contains("EDF"));
}

TEST_CASE("an environment in one file is mounted with the image, as the site's documents have it") {
  auto job = in_image("lumi", "/appl/local/laifs/containers/x.sif");
  job.venv = text("/scratch/project_1/me/optuna-env.sqsh");
  auto plan = planned(job, "lumi");
  CHECK(plan.python.where == "/user-software");
  REQUIRE(plan.container->binds.size() == 1);
  CHECK(plan.container->binds[0].source == "/scratch/project_1/me/optuna-env.sqsh");
  CHECK(plan.container->binds[0].squashed);

  job = in_image("alps_daint", "prgenv-gnu/24.11:v1");
  job.venv = text("/capstor/scratch/me/py_venv.squashfs");
  plan = planned(job, "alps_daint");
  CHECK(directive(plan, "--uenv") ==
        "prgenv-gnu/24.11:v1,/capstor/scratch/me/py_venv.squashfs:/capstor/scratch/me/py_venv");
  CHECK(plan.python.where == "/capstor/scratch/me/py_venv");

  job.container = text("ngc");
  plan = planned(job, "alps_daint");
  CHECK(plan.container->own_edf);
  CHECK(plan.container->binds[0].squashed);
  CHECK(plan.python.where == "/capstor/scratch/me/py_venv");

  job.container.reset();
  CHECK_THAT(error_of(job, "alps_daint", "request/venv").message, Catch::Contains("needs an image"));
  auto changed = job_of({"python", "train.py"});
  changed.container = text("/a/torch.sif");
  changed.venv = text("/a/env.sqsh");
  CHECK_THAT(error_of(changed, "vista", "request/venv").message,
             Catch::Contains("does not state how apptainer mounts"));
}

TEST_CASE("data in one file is mounted where the request binds it") {
  auto job = in_image("lumi", "/appl/local/laifs/containers/x.sif");
  job.binds = {text("/scratch/project_1/imagenet.squashfs:/train_images"),
               text("/scratch/project_1/imagenet.squashfs:/as.squashfs"), text("/scratch/project_1")};
  const auto plan = planned(job, "lumi");
  REQUIRE(plan.container->binds.size() == 3);
  CHECK(plan.container->binds[0].squashed);
  CHECK_FALSE(plan.container->binds[1].squashed); // shown as the file that it is
  CHECK_FALSE(plan.container->binds[2].squashed);
}

TEST_CASE("an image that a module gives is asked for by the module's name") {
  const auto plan =
      planned(in_image("lumi", "PyTorch/2.7.1-rocm-6.2.4-python-3.12-singularity-20250827"), "lumi");
  CHECK(modules(plan) ==
        std::vector<std::string>{"LUMI", "PyTorch/2.7.1-rocm-6.2.4-python-3.12-singularity-20250827"});
  CHECK(plan.container->image_variable == "SIF");
  CHECK(plan.container->enter.empty());
  const auto changed = planned(in_image("lumi", "/project/project_1/torch.sif"), "lumi");
  CHECK(modules(changed) ==
        std::vector<std::string>{"/appl/local/laifs/modules", "lumi-aif-singularity-bindings"});
  CHECK(changed.container->image_variable.empty());
}

TEST_CASE("images that see scratch have the models there") {
  const auto lumi = planned(in_image("lumi", "/project/project_1/torch.sif"), "lumi");
  REQUIRE(variable(lumi, "TORCH_HOME"));
  CHECK_THAT(variable(lumi, "TORCH_HOME")->value, Catch::Contains("/scratch/$SLURM_JOB_ACCOUNT/$USER/torch"));
  CHECK(variable(lumi, "HF_HOME"));
  CHECK(variable(planned(in_image("alps_clariden", "ngc"), "alps_clariden"), "HF_HOME") ==
        nullptr); // what an EDF mounts is the person's affair
  CHECK(variable(planned(in_image("alps_clariden", "pytorch/v2.9.1"), "alps_clariden"), "HF_HOME"));
}

TEST_CASE("what of a mixed partition's nodes a request takes is said where nobody chose") {
  auto job = job_of({"python", "train.py"});
  job.gpus_per_node = flag(2u);
  const auto warned = [&] {
    for (const auto& finding : plan::make_plan(job, site_named("mila")).diagnostics)
      if (finding.severity == diag::Severity::warning && finding.code == "request/gpu-type")
        return finding.message + "|" + finding.hint;
    return std::string();
  };
  CHECK_THAT(warned(), Catch::Contains("several GPU node types") && Catch::Contains("are those of l40s") &&
                           Catch::Contains("rtx8000"));
  job.gpu_type = text("a100l");
  CHECK(warned().empty());
  job.gpu_type.reset();
  job.cpus_per_task = flag(4u);
  job.mem = flag(mem_of("32G"));
  CHECK(warned().empty()); // nothing is taken from a kind of node
}

TEST_CASE("Vista's mpirun starts as many processes on each node as its page has them") {
  auto job = job_of({"python", "train.py"});
  job.nodes = flag(2u);
  job.launcher = launcher("mpirun");
  const auto plan = planned(job, "vista");
  CHECK(plan.launcher.step == "mpirun");
  CHECK(plan.launcher.step_args ==
        std::vector<std::string>{"-np", "2", "--map-by", "ppr:1:node", "--bind-to", "none"});
  CHECK(plan.launcher.rank_variable == "OMPI_COMM_WORLD_RANK");
}
