// SPDX-License-Identifier: MIT
// Environments to make, on the product's profiles.
#include <catch2/catch.hpp>

#include "generate/plan/setup_plan.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

plan::SetupPlan setup(const std::string& site_id, const plan::SetupOptions& spec,
                      const model::JobSpec& job = {}) {
  const auto result = plan::plan_setup(spec, job, site_named(site_id));
  for (const auto& finding : result.diagnostics) INFO(finding.code << ": " << finding.message);
  REQUIRE(result.plan.has_value());
  return *result.plan;
}

std::string refusal(const std::string& site_id, const plan::SetupOptions& spec,
                    const model::JobSpec& job = {}) {
  const auto result = plan::plan_setup(spec, job, site_named(site_id));
  REQUIRE_FALSE(result.plan.has_value());
  REQUIRE(result.diagnostics.size() == 1);
  return result.diagnostics.front().code + ": " + result.diagnostics.front().message;
}

model::JobSpec with_venv() {
  model::JobSpec job;
  job.venv = text("/project/me/env");
  return job;
}

std::vector<std::string> module_names(const plan::SetupPlan& plan) {
  std::vector<std::string> names;
  for (const auto& module : plan.modules) names.push_back(module.name);
  return names;
}

} // namespace

TEST_CASE("Zurada's page: conda with a python of its own and wheels that its drivers run") {
  const auto made = setup("zurada", {plan::SetupKind::conda, "torch torchvision torchaudio", "", "", ""});
  CHECK(module_names(made) == std::vector<std::string>{"miniforge3/25.3.1-gcc-11.4.1"});
  CHECK(made.index->name == "cu128"); // "Our GPUs support CUDA up to 12.9"
  CHECK(made.torch_packages == std::vector<std::string>{"torch", "torchvision", "torchaudio"});
  CHECK_FALSE(made.python.empty());
  CHECK(std::any_of(made.notes.begin(), made.notes.end(), [](const auto& note) {
    return note.first.find("conda create --name my_pytorch_cuda12.8") != std::string::npos;
  }));
  for (const auto& [cuda, index] : {std::pair<std::string, std::string>{"11.8", "cu118"},
                                    {"12.6", "cu126"},
                                    {"12.8", "cu128"},
                                    {"12.9", "cu129"}})
    CHECK(setup("zurada", {plan::SetupKind::conda, "torch", "", cuda, ""}).index->name == index);
}

TEST_CASE("Vista's page: its cu124, and the system's PyTorch for a job that names no environment") {
  const auto made = setup("vista", {plan::SetupKind::venv, "torch", "", "12.4", ""}, with_venv());
  CHECK(made.index->name == "cu124");
  auto job = job_of({"python3", "test.py"});
  job.nodes = flag(2u);
  const auto plan = planned(job, "vista");
  std::vector<std::string> modules;
  for (const auto& module : plan.modules) modules.push_back(module.name);
  CHECK(modules == std::vector<std::string>{"gcc", "cuda", "python3_mpi"});
}

TEST_CASE("what a site recommends is made when nothing is named") {
  CHECK(setup("zurada", {}).kind == plan::SetupKind::conda);
  CHECK(setup("narval", {}).kind == plan::SetupKind::wheelhouse);
  CHECK(setup("vista", {}).kind == plan::SetupKind::venv);
  model::JobSpec image;
  image.container = text("/project/me/torch.sif");
  CHECK(setup("lumi", {}, image).kind == plan::SetupKind::container);
}

TEST_CASE("where a site has wheels of its own, nothing else is asked and its list is shown") {
  const auto made = setup("narval", {std::nullopt, "torch numpy", "", "", ""});
  CHECK_FALSE(made.index.has_value());
  CHECK(made.list_wheels == "avail_wheels");
  CHECK(made.use == "--wheelhouse");
  CHECK_THAT(refusal("narval", {std::nullopt, "", "", "12.6", ""}), Catch::Contains("usage/setup"));
}

TEST_CASE("LibTorch for the Alliance: its modules, CUPTI, and the GPUs of the cluster") {
  const auto made = setup("narval", {plan::SetupKind::libtorch, "", "", "", ""}, with_venv());
  CHECK(module_names(made) == std::vector<std::string>{"StdEnv/2023", "gcc", "cuda/12.2", "cmake", "protobuf",
                                                       "cudnn", "python/3.11", "abseil", "cusparselt",
                                                       "opencv/4.8.1"});
  CHECK(made.link_directories == std::vector<std::string>{"$EBROOTCUDA/extras/CUPTI/lib64"});
  CHECK(made.cuda_archs == "8.0");
  CHECK_FALSE(made.index.has_value());
  CHECK(made.packages == std::vector<std::string>{"numpy"});
  CHECK(setup("fir", {plan::SetupKind::libtorch, "", "", "", ""}, with_venv()).cuda_archs == "9.0");
}

TEST_CASE("an image for LUMI is built on the site's base with wheels for the ROCm inside it") {
  model::JobSpec job;
  job.container = text("/project/me/torch.sif");
  const auto made = setup("lumi", {}, job);
  CHECK(made.base_image == "/appl/local/containers/sif-images/lumi-rocm-rocm-5.5.3.sif");
  CHECK(module_names(made) == std::vector<std::string>{"LUMI", "cotainr"});
  CHECK(made.index->name == "rocm5.4.2"); // as the page has it
  CHECK(made.python == "3.11");
}

TEST_CASE("an environment for nodes of one kind on a site of several") {
  model::JobSpec job = with_venv();
  CHECK_THAT(refusal("roihu", {plan::SetupKind::venv, "", "", "", ""}, job),
             Catch::Contains("cannot run on all nodes"));
  job.gpu_type = text("gh200");
  const auto made = setup("roihu", {plan::SetupKind::venv, "", "", "", ""}, job);
  CHECK(made.node_arch == model::CpuArch::aarch64);
  CHECK(made.index->name == "cu132"); // nvidia-smi there prints 13.2
}

TEST_CASE("an environment is packed for the nodes' own disks") {
  model::JobSpec job;
  job.conda = text("my_torch");
  plan::SetupOptions spec{plan::SetupKind::conda, "", "", "", "6.4"};
  spec.pack = "/lustre/orion/me/env.tar.gz";
  CHECK(setup("frontier", spec, job).pack == spec.pack);
  spec.pack = "/lustre/orion/me/env";
  CHECK_THAT(refusal("frontier", spec, job),
             Catch::Contains("does not end with .tar.gz or another ending of an archive"));
}

TEST_CASE("where the profile knows no GPUs, the request says which") {
  CHECK_THAT(refusal("generic", {plan::SetupKind::venv, "", "", "", ""}, with_venv()),
             Catch::Contains("does not state the vendor of its GPUs"));
  CHECK(setup("generic", {plan::SetupKind::venv, "", "", "12.6", ""}, with_venv()).index->name == "cu126");
  CHECK(setup("generic", {plan::SetupKind::venv, "", "", "", "6.4"}, with_venv()).index->name == "rocm6.4");
  auto job = with_venv();
  job.gpus_per_node = model::Sourced<unsigned>{0, {}};
  CHECK(setup("generic", {plan::SetupKind::venv, "", "", "", ""}, job).index->name == "cpu");
}

TEST_CASE("of several drivers the oldest decides, whatever its number looks like") {
  auto amd = site_named("generic");
  for (const char* rocm : {"6.3", "6.2.4"}) {
    model::NodeType node;
    node.id = rocm;
    node.cpu_arch = model::CpuArch::x86_64;
    node.gpu.emplace();
    node.gpu->vendor = model::GpuVendor::amd;
    node.gpu->arch = "gfx90a";
    node.gpu->rocm_max = rocm;
    amd.node_types.push_back(node);
  }
  const auto result = plan::plan_setup({plan::SetupKind::venv, "", "", "", ""}, with_venv(), amd);
  REQUIRE(result.plan);
  CHECK(result.plan->index->name == "rocm6.2.4");
}

TEST_CASE("GPUs of an unknown maker do not get wheels for CPUs") {
  auto somewhere = site_named("generic");
  model::NodeType node;
  node.id = "gpu";
  node.gpu.emplace();
  node.gpu->per_node = 4;
  somewhere.node_types = {node};
  const auto result = plan::plan_setup({plan::SetupKind::venv, "", "", "", ""}, with_venv(), somewhere);
  REQUIRE_FALSE(result.plan);
  CHECK_THAT(result.diagnostics.front().message, Catch::Contains("does not state the vendor of its GPUs"));
  CHECK(plan::plan_setup({plan::SetupKind::venv, "", "", "12.6", ""}, with_venv(), somewhere)
            .plan->index->name == "cu126");
}

TEST_CASE("a request that cannot be met says why") {
  CHECK_THAT(refusal("lumi", {plan::SetupKind::container, "", "", "", ""}),
             Catch::Contains("usage/container"));
  CHECK_THAT(refusal("zurada", {plan::SetupKind::container, "", "", "", ""},
                     [] {
                       model::JobSpec job;
                       job.container = text("/x.sif");
                       return job;
                     }()),
             Catch::Contains("request/setup"));
  CHECK_THAT(refusal("zurada", {plan::SetupKind::venv, "", "", "", ""}), Catch::Contains("usage/venv"));
  CHECK_THAT(refusal("zurada", {plan::SetupKind::conda, "--index-url=http://x", "", "", ""}),
             Catch::Contains("usage/packages"));
  CHECK_THAT(refusal("zurada", {plan::SetupKind::conda, "", "3.12; rm -rf /", "", ""}),
             Catch::Contains("usage/python"));
  CHECK_THAT(refusal("zurada", {plan::SetupKind::conda, "", "", "", "6.3"}), Catch::Contains("NVIDIA"));
  CHECK_THAT(refusal("zurada", {plan::SetupKind::conda, "", "", "13.0", ""}), Catch::Contains("up to 12.9"));
  model::JobSpec job;
  job.partition = text("gpu2h10");
  CHECK_THAT(refusal("zurada", {plan::SetupKind::conda, "", "", "", ""}, job),
             Catch::Contains("no partition 'gpu2h10'"));
}

TEST_CASE("where the recommended image cannot be built, the environment is one that can, and that is said") {
  for (const auto* id : {"perlmutter", "alps_clariden"}) {
    CAPTURE(id);
    const auto result = plan::plan_setup({}, {}, site_named(id));
    REQUIRE(result.plan);
    CHECK(result.plan->kind == plan::SetupKind::venv);
    CHECK(result.plan->place == "$SCRATCH/torch");
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(result.diagnostics[0].severity == diag::Severity::warning);
    CHECK_THAT(result.diagnostics[0].message,
               Catch::Contains("recommends images") &&
                   Catch::Contains("hpcml env makes an environment without an image"));
  }
  CHECK(plan::plan_setup({}, with_venv(), site_named("alps_daint")).plan->place == "/project/me/env");
  CHECK_THAT(refusal("perlmutter", {plan::SetupKind::container, "", "", "", ""},
                     [] {
                       model::JobSpec job;
                       job.container = text("/x.sif");
                       return job;
                     }()),
             Catch::Contains("request/setup"));
}

TEST_CASE("LUMI's ready image is made by EasyBuild, with the recipe of the module's name") {
  model::JobSpec job;
  job.container = text("PyTorch/2.6.0-rocm-6.2.4-python-3.12-singularity-20250404");
  const auto made = setup("lumi", {}, job);
  CHECK(module_names(made) == std::vector<std::string>{"LUMI", "partition/container", "EasyBuild-user"});
  CHECK(made.easyconfig == "PyTorch-2.6.0-rocm-6.2.4-python-3.12-singularity-20250404.eb");
  CHECK(made.use == "--container");
  CHECK_THAT(refusal("lumi", {std::nullopt, "numpy", "", "", ""}, job), Catch::Contains("usage/packages"));
  CHECK_THAT(refusal("lumi", {std::nullopt, "", "", "", "6.2"}, job), Catch::Contains("usage/setup"));
}

TEST_CASE("an environment on top of an image is one file, where the site mounts such files") {
  auto job = with_venv();
  job.venv = text("/scratch/project_1/env.sqsh");
  job.container = text("/appl/local/laifs/containers/x.sif");
  const plan::SetupOptions spec{plan::SetupKind::venv, "optuna", "", "", ""};
  const auto made = setup("lumi", spec, job);
  REQUIRE(made.squashed);
  CHECK(made.squashed->at == "/user-software");
  CHECK(made.squashed->file_options == std::vector<std::string>{"-processors", "1", "-no-xattrs"});
  CHECK(module_names(made) ==
        std::vector<std::string>{"/appl/local/laifs/modules", "lumi-aif-singularity-bindings"});
  CHECK_FALSE(made.index);
  CHECK_THAT(refusal("vista", spec, job), Catch::Contains("does not state how an environment on top of"));
  CHECK_THAT(refusal("lumi", {plan::SetupKind::venv, "", "", "", ""}, job),
             Catch::Contains("usage/packages"));
  job.venv = text("/scratch/project_1/env");
  CHECK_THAT(refusal("lumi", spec, job), Catch::Contains("must name a .sqsh file"));
  job.venv = text("/capstor/me/env.squashfs");
  job.container = text("prgenv-gnu/24.11:v1");
  CHECK(setup("alps_daint", spec, job).squashed->image_options == std::vector<std::string>{"--view=default"});
  job.container = text("ngc.toml"); // its image is entered on a node
  CHECK(setup("alps_daint", spec, job).squashed->step ==
        std::vector<std::string>{"--nodes=1", "--ntasks=1", "--time=00:30:00"});
  auto charged = site_named("alps_daint");
  charged.flags["account"].policy = model::OptionPolicy::required;
  const auto refused = plan::plan_setup(spec, job, charged);
  REQUIRE(refused.diagnostics.size() == 1);
  CHECK_THAT(refused.diagnostics.front().message, Catch::Contains("requires an account"));
  job.account = text("a1");
  CHECK(setup("alps_daint", spec, job).squashed->step ==
        std::vector<std::string>{"--nodes=1", "--ntasks=1", "--time=00:30:00", "--account=a1"});
}

TEST_CASE("what pip and uv fetch goes to scratch, where the profile knows one of one's own") {
  const auto made = setup("narval", {plan::SetupKind::venv, "", "", "", ""}, with_venv());
  REQUIRE(made.downloads.size() == 1);
  CHECK(made.downloads[0].name == "PIP_CACHE_DIR");
  CHECK(made.downloads[0].value == "${PIP_CACHE_DIR:-${SCRATCH:-$HOME/.cache}/pip}");
  CHECK(setup("mila", {plan::SetupKind::uv, "", "", "", ""}, with_venv()).downloads[0].name ==
        "UV_CACHE_DIR");
  CHECK(setup("lumi", {plan::SetupKind::venv, "", "", "", "6.2.4"}, with_venv())
            .downloads.empty()); // only a job knows its folder there
}
