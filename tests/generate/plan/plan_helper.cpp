// SPDX-License-Identifier: MIT
// Requests and profiles for the planner's tests.
#include "plan_helper.hpp"

#include <algorithm>
#include <map>

#include "core/config/site_store.hpp"

namespace hpcml::test {

model::Walltime time_of(const std::string& text) {
  auto parsed = model::Walltime::parse(text);
  REQUIRE(parsed);
  return *parsed;
}

model::MemSize mem_of(const std::string& text) {
  auto parsed = model::MemSize::parse(text);
  REQUIRE(parsed);
  return *parsed;
}

const model::Site& site_named(const std::string& id) {
  static std::map<std::string, model::Site> s_loaded;
  if (const auto found = s_loaded.find(id); found != s_loaded.end()) return found->second;
  auto load = config::load_site(id, {std::string(HPCML_SOURCE_DIR) + "/sites"});
  for (const auto& finding : load.diagnostics) UNSCOPED_INFO(diag::render_text(finding, load.source, false));
  REQUIRE(load.site);
  return s_loaded.emplace(id, std::move(*load.site)).first->second;
}

model::Site small_site() {
  model::Site site;
  site.id = site.name = "small";
  model::NodeType node;
  node.id = "quad";
  node.cpu.cores = 32;
  node.gpu.emplace();
  node.gpu->per_node = 4;
  node.gpu->vendor = model::GpuVendor::nvidia;
  node.gpu->cuda_max = "12.4";
  node.cpus_per_gpu = 8;
  site.node_types.push_back(node);
  model::Partition partition;
  partition.name = "gpu";
  partition.node_types = {"quad"};
  partition.is_default = true;
  site.partitions.push_back(partition);
  return site;
}

model::JobSpec job_of(std::vector<std::string> command) {
  model::JobSpec job;
  job.command = std::move(command);
  job.time = flag(time_of("10"), "--time");
  return job;
}

model::JobSpec lumi_job() {
  model::JobSpec job = job_of({"train_ddp"});
  job.nodes = flag(2u, "--nodes");
  job.gpus_per_node = flag(8u, "--gpus-per-node");
  job.account = text("project_1");
  return job;
}

model::Plan planned(const model::JobSpec& job, const std::string& site_id) {
  auto result = plan::make_plan(job, site_named(site_id));
  for (const auto& finding : result.diagnostics) UNSCOPED_INFO(diag::render_text(finding, "", false));
  REQUIRE(result.plan);
  return std::move(*result.plan);
}

diag::Diagnostics errors_of(const model::JobSpec& job, const std::string& site_id) {
  auto result = plan::make_plan(job, site_named(site_id));
  diag::Diagnostics errors;
  for (auto& finding : result.diagnostics)
    if (finding.severity == diag::Severity::error) errors.push_back(finding);
  REQUIRE(result.plan.has_value() == errors.empty());
  return errors;
}

diag::Diagnostic error_of(const model::JobSpec& job, const std::string& site_id, const std::string& code) {
  diag::Diagnostics matching;
  for (auto& finding : errors_of(job, site_id)) {
    UNSCOPED_INFO(diag::render_text(finding, "", false));
    if (finding.code == code) matching.push_back(finding);
  }
  REQUIRE(matching.size() == 1);
  return matching.front();
}

std::vector<std::string> directive_lines(const model::Plan& plan) {
  std::vector<std::string> lines;
  for (const auto& planned : plan.directives)
    lines.push_back(planned.name + (planned.value ? "=" + *planned.value : ""));
  return lines;
}

std::optional<std::string> directive(const model::Plan& plan, const std::string& name) {
  for (const auto& planned : plan.directives)
    if (planned.name == name) return planned.value.value_or("");
  return std::nullopt;
}

const model::PlannedEnv* variable(const model::Plan& plan, const std::string& name) {
  const auto found =
      std::find_if(plan.env.begin(), plan.env.end(), [&](const auto& v) { return v.name == name; });
  return found == plan.env.end() ? nullptr : &*found;
}

bool reports(const plan::PlanStepDiagnostics& diagnostics, const std::string& code) {
  return std::any_of(diagnostics.findings.begin(), diagnostics.findings.end(),
                     [&](const auto& finding) { return finding.code == code; });
}

bool has_note(const model::Plan& plan, const std::string& part) {
  return std::any_of(plan.notes.begin(), plan.notes.end(),
                     [&](const auto& note) { return note.first.find(part) != std::string::npos; });
}

} // namespace hpcml::test
