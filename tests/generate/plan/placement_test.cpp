// SPDX-License-Identifier: MIT
// What a request says of the ranks' cores and GPUs: hardware threads, cores without GPUs, the order of GPUs.
#include <algorithm>

#include "generate/plan/launch_line.hpp"
#include "generate/plan/rank_plan.hpp"
#include "plan_helper.hpp"
#include "seen_rank.hpp"

using namespace hpcml;
using namespace hpcml::test;
using model::GpuOrder;
using model::GpuOrderKind;

namespace {

std::vector<std::string> cpu_lists(const model::Plan& plan) {
  std::vector<std::string> lists;
  for (const auto& rank : plan.binding.ranks) lists.push_back(rank.cpus.to_list());
  return lists;
}

bool warns(const model::JobSpec& job, const std::string& site_id, const std::string& code) {
  const auto result = plan::make_plan(job, test::site_named(site_id));
  return std::any_of(result.diagnostics.begin(), result.diagnostics.end(), [&](const auto& finding) {
    return finding.code == code && finding.severity == diag::Severity::warning;
  });
}

} // namespace

TEST_CASE("Both hardware threads of LUMI's cores are the documented CPUs and those 64 above them") {
  auto job = lumi_job();
  job.threads_per_core = flag(2U, "--threads-per-core");
  const auto plan = planned(job, "lumi");
  CHECK(plan.binding.binder == model::Binder::srun_masks);
  CHECK(cpu_lists(plan) == std::vector<std::string>{"49-55,113-119", "57-63,121-127", "17-23,81-87",
                                                    "25-31,89-95", "1-7,65-71", "9-15,73-79", "33-39,97-103",
                                                    "41-47,105-111"});
  CHECK(directive(plan, "--hint") == "multithread"); // LUMI's jobs have one thread of each core otherwise
  CHECK(!directive(plan, "--cpus-per-task"));
  CHECK(variable(plan, "OMP_NUM_THREADS")->value == "7");
  CHECK(variable(plan, "HPCML_DATALOADER_WORKERS")->value == "13");
  // Where Slurm counts CPUs, it counts hardware threads.
  job.partition = text("small-g");
  const auto shared = planned(job, "lumi");
  CHECK(shared.binding.binder == model::Binder::launch);
  CHECK(directive(shared, "--cpus-per-task") == "14");
  CHECK(directive(shared, "--threads-per-core") == "2");
  CHECK(!directive(shared, "--hint"));
  job.threads_per_core = flag(1U);
  CHECK(directive_lines(planned(job, "lumi")) == [&] {
    auto plain = job;
    plain.threads_per_core.reset();
    return directive_lines(planned(plain, "lumi"));
  }());
}

TEST_CASE("More hardware threads than the profile shows are left to launch and Slurm, with a warning") {
  auto job = job_of({"./train"});
  job.account = text("def-me");
  job.gpus_per_node = flag(4U);
  job.mem = flag(mem_of("100G"));
  job.threads_per_core = flag(2U);
  CHECK(warns(job, "narval", "request/threads-per-core"));
  auto lumi = lumi_job();
  lumi.threads_per_core = flag(4U);
  CHECK(warns(lumi, "lumi", "request/threads-per-core"));
  CHECK(planned(lumi, "lumi").binding.binder == model::Binder::launch);
  lumi.threads_per_core = flag(0U);
  CHECK(error_of(lumi, "lumi", "usage/threads-per-core").message ==
        "--threads-per-core 0 is not valid: a core has at least one hardware thread");
}

TEST_CASE("A site's --hint=nomultithread gives way where hardware threads are asked for") {
  auto job = job_of({"./train"});
  job.account = text("abc@h100");
  job.partition = text("gpu_p6");
  job.threads_per_core = flag(2U);
  const auto plan = planned(job, "jean_zay");
  CHECK(directive(plan, "--hint") != "nomultithread");
  CHECK(has_note(plan, "--hint=nomultithread is omitted because --threads-per-core 2 was requested"));
  job.threads_per_core.reset();
  CHECK(directive(planned(job, "jean_zay"), "--hint") == "nomultithread");
}

TEST_CASE("An order of LUMI's GPUs by CPU is the documented one, and masks and launch have the same") {
  auto job = lumi_job();
  job.rank_order = flag(GpuOrder{GpuOrderKind::cpu}, "--rank-order");
  const auto plan = planned(job, "lumi");
  // The GCDs beside cores 1-7, 9-15, …, 57-63 in LUMI's documentation.
  CHECK(plan.binding.order.value.text() == "4,5,2,3,6,7,0,1");
  CHECK(cpu_lists(plan) ==
        std::vector<std::string>{"1-7", "9-15", "17-23", "25-31", "33-39", "41-47", "49-55", "57-63"});
  CHECK(plan.binding.ranks[0].gpus == std::vector<unsigned>{4});
  job.rank_order = flag(GpuOrder{GpuOrderKind::list, {7, 6, 5, 4, 3, 2, 1, 0}});
  CHECK(cpu_lists(planned(job, "lumi"))[0] == "41-47");
  // A ring follows links, which only the node knows.
  job.rank_order = flag(GpuOrder{GpuOrderKind::ring});
  const auto ring = planned(job, "lumi");
  CHECK(ring.binding.binder == model::Binder::launch);
  CHECK(ring.binding.order.value.text() == "ring");
}

TEST_CASE("An order that nobody can keep is refused, and said where there is nothing to order") {
  auto job = lumi_job();
  job.rank_order = flag(GpuOrder{GpuOrderKind::list, {0, 8}});
  CHECK(error_of(job, "lumi", "request/rank-order").message ==
        "the order of the GPUs names GPU 8, but there are only 8 GPUs");
  job.rank_order = flag(GpuOrder{GpuOrderKind::list, {0, 0}});
  CHECK(error_of(job, "lumi", "request/rank-order").message == "the order of the GPUs names GPU 0 twice");
  job.rank_order = flag(GpuOrder{GpuOrderKind::list, {1, 0}});
  CHECK(error_of(job, "lumi", "request/rank-order").message ==
        "--rank-order lists 2 GPUs, but the ranks of a node use 8");
  for (const char* name : {"srun", "torchrun"}) {
    job.rank_order = flag(GpuOrder{GpuOrderKind::cpu});
    job.launcher = launcher(name);
    CHECK(error_of(job, "lumi", "request/rank-order").message ==
          "--rank-order cpu needs the launcher hpcml: " + std::string(name) + " does not order the GPUs");
    job.rank_order = flag(GpuOrder{});
    planned(job, "lumi");
    job.idle_cores = flag(model::IdleCorePolicy::package);
    CHECK(error_of(job, "lumi", "request/idle-cores").hint == "remove --idle-cores, or use --launcher hpcml");
    job.idle_cores.reset();
  }
  auto dardel = job_of({"./train"});
  dardel.account = text("naiss2025-1-1");
  dardel.partition = text("gpu");
  dardel.rank_order = flag(GpuOrder{GpuOrderKind::cpu});
  CHECK_THAT(error_of(dardel, "dardel", "request/rank-order").message,
             Catch::Contains("request GPUs per task"));
  auto cpu = lumi_job();
  cpu.gpus_per_node = flag(0U);
  cpu.rank_order = flag(GpuOrder{GpuOrderKind::cpu});
  CHECK(has_note(planned(cpu, "lumi"), "--rank-order has no effect in a job without GPUs"));
}

TEST_CASE("Cores of NUMA nodes without GPUs go to the package's ranks where that is asked for") {
  // Two packages of two NUMA nodes with four cores each; a GPU under the first node of each package.
  RankFacts facts;
  facts.local_world_size = facts.world_size = 2;
  facts.live_cpus = model::make_regular_cpus(2, 16, 2, 4, 0);
  facts.allowed = facts.live_cpus.all();
  facts.live_gpus.resize(2);
  facts.live_gpus[0].numa = 0;
  facts.live_gpus[1].index = 1;
  facts.live_gpus[1].numa = 2;
  const model::Site none{};
  const auto cpus_of = [&](unsigned rank, unsigned threads, model::IdleCorePolicy idle_cores) {
    facts.local_rank = rank;
    plan::RankOptions request;
    request.threads_per_core = threads;
    request.idle_cores = idle_cores;
    return seen_rank(none, facts, request).binding.cpus.to_list();
  };
  CHECK(cpus_of(0, 1, model::IdleCorePolicy::none) == "0-3");
  CHECK(cpus_of(1, 1, model::IdleCorePolicy::none) == "8-11");
  CHECK(cpus_of(0, 1, model::IdleCorePolicy::package) == "0-7");
  CHECK(cpus_of(1, 1, model::IdleCorePolicy::package) == "8-15");
  CHECK(cpus_of(1, 2, model::IdleCorePolicy::none) == "8-11,24-27");
  // A step with one thread of each core cannot give two.
  facts.allowed = model::IdSet::range(0, 15);
  facts.local_rank = 0;
  plan::RankOptions request;
  request.threads_per_core = 2;
  const auto plan = seen_rank(none, facts, request);
  CHECK(plan.binding.cpus.to_list() == "0-3");
  REQUIRE(plan.warnings.size() == 1);
  CHECK(plan.warnings[0] ==
        "2 hardware threads of each core were requested, but the step got 4 for the 4 cores of this rank\n"
        "hint: use srun --threads-per-core=2, or remove --threads-per-core from hpcml launch");
}

TEST_CASE("On a machine without Slurm the line says the same") {
  auto job = job_of({"./train"});
  job.threads_per_core = flag(2U);
  job.idle_cores = flag(model::IdleCorePolicy::package);
  job.rank_order = flag(GpuOrder{GpuOrderKind::list, {1, 0}});
  CHECK_THAT(plan::launch_line(job),
             Catch::Contains("--threads-per-core 2 --idle-cores package --rank-order 1,0"));
}
