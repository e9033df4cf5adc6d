// SPDX-License-Identifier: MIT
// --tf32 in a plan: where it changes nothing, and who sets it where hpcml does not start the ranks.
#include <catch2/catch.hpp>

#include "core/model/tf32.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

model::JobSpec job_with(model::Tf32 request, unsigned gpus) {
  auto job = job_of({"python", "train.py"});
  job.gpus_per_node = flag(gpus, "--gpus-per-node");
  job.tf32 = flag(request, "--tf32");
  return job;
}

std::optional<diag::Diagnostic> finding_of(const model::JobSpec& job, const model::Site& where) {
  for (const auto& finding : plan::make_plan(job, where).diagnostics)
    if (finding.code == "request/tf32") return finding;
  return std::nullopt;
}

model::Site site_with(const std::string& gpu, const std::string& arch) {
  auto site = small_site();
  for (auto& type : site.node_types) {
    type.gpu->model = gpu;
    type.gpu->arch = arch;
  }
  return site;
}

} // namespace

TEST_CASE("TF32 came with Ampere and with the MI300 series") {
  for (const char* arch : {"sm_80", "sm_90", "sm_100", "sm_120", "gfx942", "gfx950", ""})
    CHECK(model::may_have_tf32(arch));
  for (const char* arch : {"sm_60", "sm_70", "sm_75", "gfx908", "gfx90a"})
    CHECK_FALSE(model::may_have_tf32(arch));
}

TEST_CASE("who asks for TF32 where GPUs have none, or where there are none, hears that it changes nothing") {
  using model::Tf32;
  const auto volta = site_with("NVIDIA V100", "sm_70"), ampere = site_with("NVIDIA A100", "sm_80");
  const auto older = finding_of(job_with(Tf32::on, 1), volta);
  REQUIRE(older);
  CHECK(older->severity == diag::Severity::warning);
  CHECK(older->message ==
        "--tf32 on has no effect: NVIDIA V100 (sm_70) always computes float32 without TF32");
  CHECK(finding_of(job_with(Tf32::off, 1), volta)->severity == diag::Severity::note);
  CHECK(finding_of(job_with(Tf32::on, 0), ampere)->message.find("the job has no GPUs") != std::string::npos);
  CHECK_FALSE(finding_of(job_with(Tf32::on, 1), ampere));
  CHECK_FALSE(finding_of(job_of({"true"}), volta));
}

TEST_CASE("where another launcher starts the ranks the script itself switches TF32") {
  auto job = job_with(model::Tf32::off, 2);
  job.account = flag(std::string("def-x"), "--account");
  CHECK_FALSE(variable(planned(job, "narval"), "NVIDIA_TF32_OVERRIDE"));
  job.launcher = launcher("srun");
  const auto plan = planned(job, "narval");
  const auto* set = variable(plan, "NVIDIA_TF32_OVERRIDE");
  REQUIRE(set);
  CHECK(set->value == "0");
  CHECK(set->scope == model::ValueScope::batch);
  REQUIRE(variable(plan, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"));
  CHECK_FALSE(variable(plan, "HIPBLASLT_ALLOW_TF32"));
}
