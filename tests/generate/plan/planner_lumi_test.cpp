// SPDX-License-Identifier: MIT
// Plans for LUMI: the documented job, its variants, and who binds in each.
#include "generate/plan/launch_line.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;
using Lines = std::vector<std::string>;

namespace {

Lines masks(const model::Plan& plan) {
  Lines texts;
  for (const auto& rank : plan.binding.ranks) texts.push_back(rank.cpus.to_mask());
  return texts;
}

/// The mask list of the LUMI page on PyTorch, with c=fe.
const Lines k_documented = {"0xfe000000000000", "0xfe00000000000000", "0xfe0000",      "0xfe000000", "0xfe",
                            "0xfe00",           "0xfe00000000",       "0xfe0000000000"};

} // namespace

TEST_CASE("The documented LUMI job becomes its documented header, without a CPU count beside the masks") {
  const auto plan = planned(lumi_job(), "lumi");
  CHECK(directive_lines(plan) == Lines{"--job-name=train_ddp", "--account=project_1",
                                       "--partition=standard-g", "--nodes=2", "--ntasks-per-node=8",
                                       "--gpus-per-node=8", "--mem=480G", "--time=00:10:00",
                                       "--output=%x-%j.out"});
  CHECK(plan.binding.binder == model::Binder::srun_masks);
  CHECK(masks(plan) == k_documented);
  CHECK(plan.layout.cpus_per_rank == 7);
  CHECK(plan.layout.world_size() == 16);
  CHECK(plan.gpu_vendor == model::GpuVendor::amd);
  CHECK(plan.gpu_visibility.value == model::GpuVisibilityMode::own);
  CHECK(plan.launcher.choice.is_hpcml());
  CHECK(plan.backend.value == model::Backend::automatic);
}

TEST_CASE("Other widths on LUMI are computed, up to the seven cores that are there") {
  auto job = lumi_job();
  job.cpus_per_task = flag(6u);
  CHECK(masks(planned(job, "lumi"))[0] == "0x7e000000000000");
  job.cpus_per_task = flag(3u);
  CHECK(masks(planned(job, "lumi"))[4] == "0xe");
  job.cpus_per_task = flag(8u);
  const auto error = error_of(job, "lumi", "request/cpus-per-task");
  CHECK(error.message.find("(56 of 64 cores)") != std::string::npos);
  CHECK(error.hint == "use at most --cpus-per-task 7");
}

TEST_CASE("On LUMI masks are used only where the step owns whole nodes with all their GPUs") {
  struct Row {
    const char* name;
    std::optional<std::string> partition, launcher;
    unsigned gpus;
    model::Binder binder;
    std::optional<std::string> cpus; // of the header
  };
  using model::Binder;
  const std::vector<Row> rows = {
      {"whole nodes", {}, {}, 8, Binder::srun_masks, {}},
      {"whole nodes, plain srun", {}, "srun", 8, Binder::srun_masks, {}},
      {"whole nodes, torchrun", {}, "torchrun", 8, Binder::agent, {}},
      {"whole nodes, DeepSpeed: its ranks start one per GPU", {}, "deepspeed", 8, Binder::srun_masks, {}},
      {"some of the GPUs: their numbers are known only in the job", {}, {}, 4, Binder::launch, {}},
      {"shared nodes", "small-g", {}, 8, Binder::launch, "7"},
      {"shared nodes, plain srun", "small-g", "srun", 8, Binder::srun_cores, "7"},
      {"shared nodes, torchrun gets the cores of all ranks", "small-g", "torchrun", 8, Binder::agent, "56"},
  };
  for (const auto& row : rows) {
    INFO(row.name);
    auto job = lumi_job();
    job.gpus_per_node = flag(row.gpus);
    if (row.partition) job.partition = text(*row.partition);
    if (row.launcher) job.launcher = test::launcher(*row.launcher);
    const auto plan = planned(job, "lumi");
    CHECK(plan.binding.binder == row.binder);
    CHECK(plan.binding.ranks.empty() == (row.binder != Binder::srun_masks));
    CHECK(directive(plan, "--cpus-per-task") == row.cpus);
    // Slurm counts hardware threads on these nodes, the plan counts cores.
    CHECK(directive(plan, "--threads-per-core").has_value() == row.cpus.has_value());
  }
}

TEST_CASE("A CPU-only job on LUMI's whole nodes gets all cores that jobs may have") {
  auto job = lumi_job();
  job.gpus_per_node = flag(0u);
  const auto plan = planned(job, "lumi");
  CHECK_FALSE(directive(plan, "--gpus-per-node"));
  CHECK(plan.layout.ranks_per_node == 1);
  CHECK(plan.layout.cpus_per_rank == 56);
  CHECK(plan.backend.value == model::Backend::gloo);
  CHECK_FALSE(variable(plan, "NCCL_SOCKET_IFNAME"));
  REQUIRE(variable(plan, "GLOO_SOCKET_IFNAME"));
}

TEST_CASE("network variables follow the ROCm version of the image") {
  struct Row {
    const char* image;         ///< empty: no container
    bool level, cache_monitor; ///< NCCL_NET_GDR_LEVEL, FI_MR_CACHE_MONITOR
  };
  const Row rows[] = {
      {"/appl/local/laifs/containers/lumi-multitorch-u24r70f21m50t210-20260415_130625.sif", false, true},
      {"/appl/local/laifs/containers/lumi-multitorch-latest.sif", false, true},
      {"my.sif", false, true}, // unknown version
      {"/appl/local/laifs/containers/lumi-multitorch-torch-u24r64f21m43t29-20260319_153422.sif", true, true},
      {"/appl/local/containers/sif-images/lumi-pytorch-rocm-6.2.4-pytorch-v2.7.1.sif", true, true},
      {"", false, false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.image);
    auto job = lumi_job();
    if (*row.image) job.container = text(row.image);
    const auto plan = planned(job, "lumi");
    CHECK((variable(plan, "NCCL_NET_GDR_LEVEL") != nullptr) == row.level);
    CHECK((variable(plan, "FI_MR_CACHE_MONITOR") != nullptr) == row.cache_monitor);
  }
}

TEST_CASE("LUMI's network and cache settings follow the later page and remember the earlier one") {
  auto job = lumi_job();
  job.container = text("lumi-pytorch-rocm-6.2.4.sif");
  const auto plan = planned(job, "lumi");
  REQUIRE(variable(plan, "NCCL_NET_GDR_LEVEL"));
  CHECK(variable(plan, "NCCL_NET_GDR_LEVEL")->value == "PHB");
  REQUIRE(variable(plan, "NCCL_NET_GDR_LEVEL")->origin.superseded.size() == 1);
  CHECK(variable(plan, "NCCL_NET_GDR_LEVEL")->origin.superseded[0].value == "3");
  REQUIRE(variable(plan, "GLOO_SOCKET_IFNAME"));
  CHECK(variable(plan, "GLOO_SOCKET_IFNAME")->value == "hsn0,hsn1,hsn2,hsn3");
  CHECK(variable(plan, "GLOO_SOCKET_IFNAME")->scope == model::ValueScope::task);
  REQUIRE(plan.caches.size() == 1);
  CHECK(plan.caches[0].variables.count("MIOPEN_CUSTOM_CACHE_DIR") == 1);
}

TEST_CASE("Shared nodes get memory by GPU, whole nodes all of it") {
  auto job = lumi_job();
  job.partition = text("small-g");
  job.gpus_per_node = flag(2u);
  CHECK(directive(planned(job, "lumi"), "--mem") == "120G");
  job.mem = flag(mem_of("30G"));
  CHECK(directive(planned(job, "lumi"), "--mem") == "30G");
  job.mem = flag(mem_of("1T"));
  CHECK(error_of(job, "lumi", "request/mem").hint == "use at most --mem 480G");
}

TEST_CASE("Model parallel ranks get several GPUs and their cores, more ranks than GPUs share them") {
  auto job = lumi_job();
  job.gpus_per_task = flag(2u);
  auto plan = planned(job, "lumi");
  CHECK(plan.layout.ranks_per_node == 4);
  CHECK(plan.layout.cpus_per_rank == 14);
  REQUIRE(plan.binding.ranks.size() == 4);
  CHECK(plan.binding.ranks[0].gpus == std::vector<unsigned>{0, 1});
  CHECK(plan.binding.ranks[0].cpus.to_list() == "49-55,57-63");
  job = lumi_job();
  job.tasks_per_node = flag(16u);
  plan = planned(job, "lumi");
  CHECK(plan.layout.cpus_per_rank == 3);
  REQUIRE(plan.binding.ranks.size() == 16);
  CHECK(plan.binding.ranks[1].cpus.to_list() == "53-55");
  const auto finding =
      plan::make_plan(job, site_named("lumi")).diagnostics; // a note in --explain nobody reads
  REQUIRE(finding.size() == 1);
  CHECK(finding[0].message.starts_with("16 ranks share 8 GPUs"));
  job.gpus_per_task = flag(1u);
  CHECK(error_of(job, "lumi", "request/gpus-per-task").message ==
        "16 ranks per node with 1 GPU each need 16 GPUs per node, but the job has 8");
}

TEST_CASE(
    "Inside LUMI's image the user's paths have the bind's name, and the activation can be switched off") {
  auto job = lumi_job();
  job.command = {"/project/me/run.sh", "--data=/project/me/data", "/project/mean", "/project/me", "x"};
  job.container = text("/project/me/image.sif");
  job.binds = {text("/project/me/:/workdir")};
  auto plan = planned(job, "lumi");
  CHECK(plan.command == Lines{"/workdir/run.sh", "--data=/workdir/data", "/project/mean", "/workdir", "x"});
  REQUIRE(plan.container);
  CHECK(plan.container->engine == model::ContainerEngine::singularity);
  CHECK(plan.container->image == "/project/me/image.sif");
  CHECK(plan.container->enter == "$WITH_CONDA");
  REQUIRE(plan.modules.size() == 2);
  CHECK(plan.modules[0].is_path);
  CHECK(plan.modules[1].name == "lumi-aif-singularity-bindings");
  job.container_enter = flag(false);
  plan = planned(job, "lumi");
  CHECK(plan.container->enter.empty());
}

TEST_CASE("Every directive, variable and module of the LUMI plan says where it comes from") {
  auto job = lumi_job();
  job.container = text("/p/image.sif");
  const auto plan = planned(job, "lumi");
  for (const auto& planned_directive : plan.directives) {
    INFO(planned_directive.name);
    CHECK_FALSE(planned_directive.origin.by.empty());
  }
  for (const auto& planned_variable : plan.env) {
    INFO(planned_variable.name);
    CHECK_FALSE(planned_variable.origin.by.empty());
  }
  for (const auto& module : plan.modules) CHECK_FALSE(module.origin.by.empty());
  for (const auto& rank : plan.binding.ranks) CHECK_FALSE(rank.why.empty());
}

TEST_CASE(
    "What ranks have is judged before they start where the request says so, and only hpcml launch can") {
  auto job = lumi_job();
  CHECK_FALSE(planned(job, "lumi").ranks.bind_check);
  job.bind_check = model::Sourced<model::BindCheckAction>{model::BindCheckAction::fail, {}};
  CHECK(planned(job, "lumi").ranks.bind_check->value == model::BindCheckAction::fail);
  CHECK_THAT(plan::launch_line(job),
             Catch::Contains("hpcml launch --nproc-per-node 8 --bind-check fail -- "));
  job.launcher = launcher("torchrun");
  CHECK_THAT(error_of(job, "lumi", "request/bind-check").message,
             Catch::Contains("torchrun does not check the binding of ranks"));
}

TEST_CASE("NCCL is asked what it does only where there is one") {
  auto job = lumi_job();
  job.nccl_debug = true;
  CHECK(variable(planned(job, "lumi"), "NCCL_DEBUG"));
  job.gpus_per_node = model::Sourced<unsigned>{0, {}};
  job.partition = model::Sourced<std::string>{"standard", {}};
  const auto without = plan::make_plan(job, site_named("lumi"));
  REQUIRE(without.plan);
  CHECK_FALSE(variable(*without.plan, "NCCL_DEBUG"));
  CHECK(std::any_of(without.diagnostics.begin(), without.diagnostics.end(),
                    [](const auto& finding) { return finding.code == "request/nccl-debug"; }));
}

TEST_CASE("How the ranks meet is told to hpcml launch, and asked of nobody else") {
  auto job = lumi_job();
  job.store = model::Sourced<model::StoreProvider>{model::StoreProvider::env, {}};
  job.rendezvous_timeout = model::Sourced<unsigned>{60, {}};
  job.coordinator = model::Sourced<bool>{true, {}};
  CHECK_THAT(plan::launch_line(job),
             Catch::Contains(" --store env --rendezvous-timeout 60 --jax-coordinator -- "));
  CHECK(planned(job, "lumi").ranks.rendezvous_timeout->value == 60);
  job.rendezvous_timeout = model::Sourced<unsigned>{0, {}};
  CHECK_THAT(error_of(job, "lumi", "request/store").message,
             Catch::Contains("which --rendezvous-timeout 0 disables"));
  job.coordinator.reset();
  job.launcher = launcher("torchrun");
  CHECK_THAT(error_of(job, "lumi", "request/store").message,
             Catch::Contains("need the launcher hpcml, but torchrun starts the ranks"));
}
