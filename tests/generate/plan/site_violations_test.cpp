// SPDX-License-Identifier: MIT
// What the shipped profiles say to a request, in the sentence that a person reads.
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

const diag::Diagnostic* finding_of(const diag::Diagnostics& list, const std::string& code) {
  for (const auto& finding : list)
    if (finding.code == code) return &finding;
  return nullptr;
}

} // namespace

TEST_CASE("An array with more tasks than one user may queue is refused, one that fits is not") {
  auto job = job_of({"./train"});
  job.account = text("a");
  job.partition = text("gpu-a100-dev");
  job.array = text("0-9%2");
  const auto error = error_of(job, "lonestar6", "request/array");
  CHECK_THAT(error.message,
             Catch::Contains(
                 "10 jobs exceed the maximum of one user in partition gpu-a100-dev (3 queued and running)"));
  job.array = text("0-2");
  CHECK(directive(planned(job, "lonestar6"), "--array") == "0-2");
}

TEST_CASE("An account for another kind of hours is refused, not lengthened") {
  auto job = job_of({"./train"});
  job.partition = text("gpu_p6");
  job.account = text("abc@v100");
  const auto error = error_of(job, "jean_zay", "request/account");
  CHECK_THAT(
      error.message,
      Catch::Contains("--account=abc@v100 does not end with @h100, which jobs with these resources require"));
  CHECK_THAT(error.hint, Catch::Contains("--account=abc@h100"));
  for (const char* good : {"abc", "abc@h100"}) {
    job.account = text(good);
    CHECK(directive(planned(job, "jean_zay"), "--account") == "abc@h100");
  }
}

TEST_CASE("An option that the site ignores is left out with a warning") {
  auto job = job_of({"./train"});
  job.account = text("def-me");
  job.time = flag(time_of("1h"));
  job.gpus_per_node = flag(4U);
  job.mem = flag(mem_of("100G"));
  const auto result = plan::make_plan(job, site_named("trillium"));
  REQUIRE(result.plan);
  CHECK(!directive(*result.plan, "--mem"));
  const auto* warning = finding_of(result.diagnostics, "request/mem");
  REQUIRE(warning);
  CHECK(warning->severity == diag::Severity::warning);
}

TEST_CASE("What is not known for lack of a partition is no further mistake") {
  auto job = job_of({"./train"});
  job.account = text("p");
  const auto errors = errors_of(job, "snellius");
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].code == "usage/partition");
}

TEST_CASE("A partition of few nodes is not taken for all nodes of their kind") {
  auto job = job_of({"./train"});
  job.partition = text("gpudev");
  job.mem = flag(mem_of("10G"));
  job.nodes = flag(3U);
  CHECK_THAT(error_of(job, "zurada", "request/nodes").message,
             Catch::Contains("3 nodes exceed the size of partition gpudev (2)"));
  job.nodes = flag(2U);
  planned(job, "zurada");
}

TEST_CASE("Triton's GPUs are asked for by their type, without a partition") {
  auto job = job_of({"./train"});
  job.gpu_type = text("h200");
  job.gpus_per_node = flag(2U);
  const auto plan = planned(job, "triton_aalto");
  CHECK(directive(plan, "--gpus") == "h200:2");
  CHECK(!directive(plan, "--partition"));
}
