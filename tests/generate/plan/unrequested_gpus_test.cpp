// SPDX-License-Identifier: MIT
// What a request gets that it does not ask for: GPUs, shares, more ranks than GPUs.
#include <catch2/catch.hpp>

#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

diag::Diagnostics findings_of(const model::JobSpec& job, const std::string& site_id) {
  return plan::make_plan(job, site_named(site_id)).diagnostics;
}

const diag::Diagnostic* find(const diag::Diagnostics& findings, const std::string& code,
                             const std::string& part) {
  for (const auto& finding : findings)
    if (finding.code == code && finding.message.find(part) != std::string::npos) return &finding;
  return nullptr;
}

} // namespace

TEST_CASE("a request that counts cores and memory and no GPUs gets none, and hears so") {
  auto job = job_of({"python", "cifar10-cpu.py"});
  job.tasks_per_node = flag(1u, "--tasks-per-node");
  job.cpus_per_task = flag(1u, "--cpus-per-task");
  job.mem = flag(mem_of("8G"), "--mem");
  const auto findings = findings_of(job, "narval");
  CHECK(find(findings, "request/gpus-per-node", "planning a job without GPUs"));
  const auto plan = planned(job, "narval");
  CHECK(plan.layout.gpus_per_node == 0);
  for (const auto& line : directive_lines(plan)) CHECK(line.find("gpu") == std::string::npos);
  job.gpus_per_node = flag(1u, "--gpus-per-node");
  CHECK(planned(job, "narval").layout.gpus_per_node == 1);
}

TEST_CASE("who counts cores and memory hears of the GPUs that come with whole nodes") {
  const auto has_reason = [](const diag::Diagnostics& findings) {
    return find(findings, "request/gpus-per-node", "the request has cores and memory but no GPUs") ||
           find(findings, "request/gpus-per-node", "because no GPU count was given");
  };
  for (const char* id : {"lumi", "frontier", "vista", "isambard_ai", "jupiter"}) {
    CAPTURE(id);
    auto job = job_of({"python", "prep.py"});
    job.cpus_per_task = flag(2u, "--cpus-per-task");
    job.mem = flag(mem_of("4G"), "--mem");
    const auto result = plan::make_plan(job, site_named(id));
    if (result.plan && result.plan->layout.gpus_per_node == 0) continue;
    CHECK(has_reason(result.diagnostics));
    job.gpus_per_node = flag(1u, "--gpus-per-node");
    CHECK_FALSE(has_reason(findings_of(job, id)));
  }
}

TEST_CASE("one GPU per task where only the tasks are counted; a whole node is said aloud") {
  auto job = job_of({"python", "train.py"});
  job.tasks_per_node = flag(1u, "--tasks-per-node");
  CHECK(planned(job, "narval").layout.gpus_per_node == 1);
  CHECK(find(findings_of(job, "narval"), "request/gpus-per-node", "1 GPU per node, 1 per rank"));
  job.tasks_per_node.reset();
  CHECK(planned(job, "narval").layout.gpus_per_node == 4);
  const auto findings = findings_of(job, "narval");
  const auto* finding = find(findings, "request/gpus-per-node", "all 4 GPUs per node");
  REQUIRE(finding);
  CHECK(finding->hint.find("--gpus-per-node N") != std::string::npos);
  // Whole nodes are charged as such: nothing to say.
  CHECK_FALSE(find(findings_of(lumi_job(), "lumi"), "request/gpus-per-node", "GPU"));
}

TEST_CASE("more ranks than GPUs is said, and refused under NCCL") {
  auto job = job_of({"python", "train.py"});
  job.partition = text("gpu2h100");
  job.mem = flag(mem_of("64G"), "--mem");
  job.gpus_per_node = flag(2u, "--gpus-per-node");
  job.tasks_per_node = flag(4u, "--tasks-per-node");
  const auto findings = findings_of(job, "zurada");
  const auto* finding = find(findings, "request/tasks-per-node", "4 ranks share 2 GPUs");
  REQUIRE(finding);
  CHECK(finding->severity == diag::Severity::warning);
  CHECK(finding->hint.find("--tasks-per-node 2") != std::string::npos);
  job.backend = flag(model::Backend::nccl, "--backend");
  CHECK(error_of(job, "zurada", "request/tasks-per-node").hint.find("--tasks-per-node 2") !=
        std::string::npos);
  job.backend = flag(model::Backend::gloo, "--backend");
  CHECK_FALSE(find(findings_of(job, "zurada"), "request/tasks-per-node", "share"));
}

TEST_CASE("a part of a GPU brings its own share of cores and memory") {
  struct Row {
    std::string type;
    unsigned cores;
    std::string memory;
  };
  const std::vector<Row> rows = {{"a100_4g.20gb", 6, "62G"},
                                 {"a100_3g.20gb", 6, "62G"},
                                 {"a100_2g.10gb", 3, "31G"},
                                 {"a100_1g.5gb", 1, "15G"}};
  for (const auto& row : rows) {
    auto job = job_of({"python", "x.py"});
    job.gpu_type = text(row.type);
    const auto plan = planned(job, "narval");
    INFO(row.type);
    CHECK(plan.layout.gpus_per_node == 1);
    CHECK(plan.layout.cpus_per_rank == row.cores);
    CHECK(directive(plan, "--mem") == row.memory);
  }
}

TEST_CASE("a GPU that the partition's nodes do not have is refused, named by Slurm or not") {
  auto job = job_of({"python", "x.py"});
  job.partition = text("gpu2h100");
  job.mem = flag(mem_of("64G"), "--mem");
  job.gpus_per_node = flag(1u, "--gpus-per-node");
  job.gpu_type = text("h200");
  CHECK(error_of(job, "zurada", "request/gpu-type").hint.find("NVIDIA H100 NVL") != std::string::npos);
  job.gpu_type = text("nvidia_h100_nvl");
  CHECK(planned(job, "zurada").gpu_type == "nvidia_h100_nvl");
}

TEST_CASE("memory without a unit that is far too little is said") {
  auto job = lumi_job();
  job.mem = flag(mem_of("64"), "--mem");
  const auto findings = findings_of(job, "lumi");
  const auto* finding = find(findings, "request/mem", "64 MiB");
  REQUIRE(finding);
  CHECK(finding->hint == "use --mem 64G for 64 GiB");
}

TEST_CASE("GPUs that no rank takes are said, with the numbers of ranks that take all") {
  auto job = lumi_job();
  job.tasks_per_node = flag(3u, "--tasks-per-node");
  auto findings = findings_of(job, "lumi");
  const auto* by_ranks = find(findings, "request/tasks-per-node", "2 of the 8 GPUs of each node are unused");
  REQUIRE(by_ranks);
  CHECK(by_ranks->severity == diag::Severity::warning);
  CHECK(by_ranks->hint.find("--tasks-per-node 1, 2, 4 or 8") != std::string::npos);
  job.tasks_per_node = std::nullopt;
  job.gpus_per_task = flag(3u, "--gpus-per-task");
  findings = findings_of(job, "lumi");
  CHECK(find(findings, "request/gpus-per-task", "2 of the 8 GPUs"));
  for (const unsigned ranks : {1u, 2u, 4u, 8u}) {
    job.gpus_per_task = std::nullopt;
    job.tasks_per_node = flag(unsigned(ranks), "--tasks-per-node");
    findings = findings_of(job, "lumi");
    CHECK_FALSE(find(findings, "request/tasks-per-node", "are unused"));
  }
}
