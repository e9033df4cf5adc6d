// SPDX-License-Identifier: MIT
// Jobs that name no partition, where the profile knows Slurm's default.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/site_rules/policy_violation.hpp"
#include "core/site_rules/script_helper.hpp"
#include "core/site_rules/violation_text.hpp"

using namespace hpcml;
using site_rules::Confidence;
using site_rules::SiteRule;
using site_rules::slurm_default_partition;
using test::sourced;

namespace {

/// Slurm's default partition is "cpu"; the nodes of "gpu" have 4 GPUs and more memory.
model::Site cpu_by_default() {
  model::Site site;
  site.id = site.name = "Small";
  model::NodeType gpu, cpu;
  gpu.id = "gpu";
  gpu.cpu = cpu.cpu = model::make_regular_cpus(2, 64, 1, 0, 0);
  gpu.gpu = model::GpuShape{};
  gpu.gpu->per_node = 4;
  gpu.gpu->slurm_type = "a100";
  gpu.memory = sourced(model::MemSize::of_mib(500000));
  cpu.id = "cpu";
  cpu.memory = sourced(model::MemSize::of_mib(250000));
  site.node_types = {gpu, cpu};
  model::Partition large, usual;
  large.name = "gpu";
  large.node_types = {"gpu"};
  usual.name = "cpu";
  usual.node_types = {"cpu"};
  usual.cpu_only = usual.is_default = true;
  usual.max_nodes = sourced(8U);
  site.partitions = {large, usual};
  return site;
}

site_rules::PolicyViolations evaluated(const model::Site& site, site_rules::ResourceRequest demand,
                                       site_rules::RequestStage stage = site_rules::RequestStage::script) {
  demand.stage = stage;
  return site_rules::evaluate_policy(site, site_rules::place(site, demand), demand);
}

std::vector<SiteRule> rules_of(const site_rules::PolicyViolations& violations) {
  std::vector<SiteRule> rules;
  for (const auto& violation : violations) rules.push_back(violation.rule);
  return rules;
}

} // namespace

TEST_CASE("a script without a partition is compared with Slurm's default") {
  const auto site = cpu_by_default();
  const auto job = test::script_demand("-N 9 --gres=gpu:a100:4 --mem=500000M --ntasks-per-node=200");
  for (const auto stage : {site_rules::RequestStage::script, site_rules::RequestStage::submitted}) {
    const auto violations = evaluated(site, job, stage);
    CHECK(rules_of(violations) == std::vector{SiteRule::nodes_over, SiteRule::gpus_on_cpu_nodes,
                                              SiteRule::cpus_over, SiteRule::memory_over});
    // A command line may name another partition.
    if (stage == site_rules::RequestStage::script)
      CHECK(std::all_of(violations.begin(), violations.end(),
                        [](const auto& found) { return found.certainty == Confidence::likely; }));
    else
      CHECK(violations[1].certainty == Confidence::definite);
  }
  const auto violations = evaluated(site, job);
  const auto placement = site_rules::place(site, job);
  CHECK(site_rules::describe(violations[1], site, placement, job) ==
        "the job names no partition, and the default partition cpu has no GPUs");
  CHECK(evaluated(site, test::script_demand("-N 8 --mem=250000M")).empty());
}

TEST_CASE("scripts without a partition are not evaluated without a default") {
  const auto job = test::script_demand("-N 9 --gres=gpu:4 --mem=500000M");
  auto site = cpu_by_default();
  site.partitions[1].slurm_default = false; // hpcml's own choice
  CHECK(slurm_default_partition(site) == nullptr);
  CHECK(evaluated(site, job).empty());
  site.partitions[1].is_default = false;
  site.partitions[1].slurm_default.reset();
  CHECK(slurm_default_partition(site) == nullptr);
  CHECK(evaluated(site, job).empty());
  // Slurm's default need not be hpcml's.
  site.partitions[0].is_default = true;
  CHECK(slurm_default_partition(site)->name == "gpu");
  site.partitions[1].slurm_default = true;
  CHECK(slurm_default_partition(site)->name == "cpu");
  site.flags["partition"].policy = model::OptionPolicy::required;
  CHECK(site_rules::must_name_partition(site));
  CHECK(slurm_default_partition(site) == nullptr);
}

TEST_CASE("a GPU type of another partition is not unknown") {
  auto site = cpu_by_default();
  CHECK(rules_of(evaluated(site, test::script_demand("-p cpu --gres=gpu:a100:4"))) ==
        std::vector{SiteRule::gpus_on_cpu_nodes});
  auto hopper = site.node_types[0];
  hopper.id = "hopper";
  hopper.gpu->slurm_type = "h100";
  site.node_types.push_back(hopper);
  site.partitions.push_back(site.partitions[0]);
  site.partitions[2].name = "hopper";
  site.partitions[2].node_types = {"hopper"};
  const auto text_of = [&](const std::string& options) {
    const auto job = test::script_demand(options);
    const auto violations = evaluated(site, job);
    REQUIRE(violations.size() == 1);
    return site_rules::describe(violations[0], site, site_rules::place(site, job), job);
  };
  CHECK(text_of("-p gpu --gres=gpu:h100:4") == "no node of partition gpu has GPUs of type 'h100'");
  CHECK(text_of("-p gpu --gres=gpu:v100:4") == "no node of Small has GPUs of type 'v100'");
}
