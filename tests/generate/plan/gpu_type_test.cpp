// SPDX-License-Identifier: MIT
// Kinds of GPUs by name, at every site: refused, written, or said what becomes of it.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/config/site_store.hpp"
#include "core/site_rules/gpu_names.hpp"
#include "core/util/text.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

bool is_in_script(const model::Plan& plan, const std::string& type) {
  const auto lines = directive_lines(plan);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(type + ":") != std::string::npos; });
}

bool reports(const diag::Diagnostics& findings, const std::string& part) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const auto& finding) { return finding.message.find(part) != std::string::npos; });
}

/// Every partition of the site's that a job may name; one without a name where Slurm chooses.
std::vector<std::string> partitions_of(const model::Site& site) {
  std::vector<std::string> names;
  for (const auto& partition : site.partitions)
    if (partition.nameable) names.push_back(partition.name);
  if (names.empty()) names.emplace_back();
  return names;
}

} // namespace

TEST_CASE("a kind of GPU that no site has is refused wherever the profile knows its GPUs") {
  for (const auto& id : config::list_sites({std::string(HPCML_SOURCE_DIR) + "/sites"}))
    for (const auto& partition : partitions_of(test::site_named(id)))
      for (const char* type : {"nonsense", "z9000", "my-own"}) {
        auto job = job_of({"python", "x.py"});
        job.gpu_type = text(type);
        job.gpus_per_node = flag(1u, "--gpus-per-node");
        if (!partition.empty()) job.partition = text(partition);
        const auto result = plan::make_plan(job, test::site_named(id));
        CAPTURE(id, partition, type);
        if (!result.plan) continue;
        const auto* node = test::site_named(id).find_node_type(result.plan->node_type);
        CHECK((!node || !node->gpu || node->gpu->model.empty()));
        CHECK((id == "generic" || reports(result.diagnostics, "is used unchanged")));
      }
}

TEST_CASE("a kind of GPU is taken as it is only where a line of the script has it") {
  unsigned written = 0, reported = 0;
  for (const auto& id : config::list_sites({std::string(HPCML_SOURCE_DIR) + "/sites"}))
    for (const auto& partition : partitions_of(test::site_named(id)))
      for (const std::string type : {"nonsense", "a100", "h100", "gh200", "mi250x", "max", "pvc", "hopper"}) {
        auto job = job_of({"python", "x.py"});
        job.gpu_type = text(type);
        job.account = text("project_462000001");
        job.gpus_per_node = flag(1u, "--gpus-per-node");
        if (!partition.empty()) job.partition = text(partition);
        const auto result = plan::make_plan(job, test::site_named(id));
        if (!result.plan) continue;
        CAPTURE(id, partition, type);
        const bool is_written = is_in_script(*result.plan, type);
        const bool as_it_is = reports(result.diagnostics, "is used unchanged");
        if (as_it_is) CHECK(is_written);
        if (!is_written) // a note says what becomes of it
          CHECK((has_note(*result.plan, "--gpu-type " + type + " is not written into the script") ||
                 !result.plan->gpu_type.empty()));
        written += as_it_is;
        reported += !is_written;
      }
  CHECK(written > 10);
  CHECK(reported > 5);
}

TEST_CASE("a GPU may be of the type by its model, its maker or its generation") {
  struct Row {
    std::string model;
    model::GpuVendor vendor;
    std::string may_be, is_not;
  };
  const std::vector<Row> rows = {
      {"NVIDIA A100 80 GB", model::GpuVendor::nvidia, "a100 A100-80 nvidia_a100 ampere tesla nvidia gpu",
       "h100 hopper volta max mi250x radeon pvc nonsense a10 a1000"},
      {"NVIDIA GH200 96 GB", model::GpuVendor::nvidia, "gh200 gh hopper grace", "h200 h100 ampere instinct"},
      {"NVIDIA H100 NVL", model::GpuVendor::nvidia, "h100 nvidia_h100_nvl nvl hopper",
       "h200 blackwell intel"},
      {"NVIDIA B200 186 GB", model::GpuVendor::nvidia, "b200 blackwell", "gb200 hopper"},
      {"NVIDIA RTX 8000 48 GB", model::GpuVendor::nvidia, "rtx8000 RTX_8000 rtx turing quadro",
       "a100 rtx6000 ampere radeon"},
      {"Intel Data Center GPU Max 1550", model::GpuVendor::intel, "max max1550 pvc ponte_vecchio intel",
       "a100 h100 gh200 nvidia hopper mi300a nonsense"},
      {"AMD MI250X (GCD)", model::GpuVendor::amd, "mi250x mi250 amd instinct mi", "mi300a nvidia max tesla"},
      {"", model::GpuVendor::unknown, "a100 nonsense max", ""},
  };
  const auto words = [](const std::string& text) { return util::split(text, ' '); };
  for (const auto& row : rows) {
    model::GpuShape gpu;
    gpu.model = row.model;
    gpu.vendor = row.vendor;
    for (const auto& type : words(row.may_be)) {
      CAPTURE(row.model, type);
      CHECK(site_rules::may_be_type(gpu, type));
    }
    for (const auto& type : words(row.is_not)) {
      CAPTURE(row.model, type);
      if (!type.empty()) CHECK_FALSE(site_rules::may_be_type(gpu, type));
    }
  }
}
