// SPDX-License-Identifier: MIT
// Verdicts: rule, numbers, whose limit, how sure.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "core/site_rules/policy_violation.hpp"
#include "core/site_rules/script_helper.hpp"

using namespace hpcml;
using site_rules::Confidence;
using site_rules::SiteRule;
using test::sourced;

namespace {

model::Walltime minutes(int count) { return model::Walltime::of(std::chrono::minutes(count)); }

/// Two partitions with nodes of four GPUs, 32 cores of which 2 are the system's, and 100000 MiB.
model::Site four_gpus() {
  model::Site at;
  at.id = at.name = "Small";
  model::NodeType type;
  type.id = "gpu";
  type.cpu = model::make_regular_cpus(2, 32, 2, 2, 0);
  type.cpu.reserved = *model::IdSet::parse_list("0,1,32,33");
  type.gpu = model::GpuShape{};
  type.gpu->per_node = 4;
  type.gpu->slurm_type = "a100";
  type.gpu->slices = {model::MigInstanceType{"a100_1g", {}, {}, {}, {}}};
  type.memory = sourced(model::MemSize::of_mib(100000));
  type.cpus_per_gpu = 7;
  type.mem_per_gpu = model::MemSize::of_mib(25000);
  type.share_policy = model::CpusPerGpuPolicy::max;
  at.node_types = {type};
  model::Partition wide, tiny;
  wide.name = "wide";
  wide.node_types = tiny.node_types = {"gpu"};
  wide.max_time = sourced(minutes(600));
  wide.max_nodes = sourced(8u);
  tiny.name = "tiny";
  tiny.max_time = sourced(minutes(60));
  tiny.max_nodes = sourced(1u);
  tiny.max_submitted = sourced(3u);
  at.partitions = {wide, tiny};
  return at;
}

/// A script for one node with one GPU.
site_rules::ResourceRequest demand_for(const std::vector<std::string>& partitions) {
  site_rules::ResourceRequest demand;
  demand.partitions = partitions;
  demand.nodes_given = demand.nodes_exact = demand.gpus_counted = true;
  demand.gpus_per_node = 1;
  demand.gpus_on_node = demand.gpus_in_all = 1;
  return demand;
}

site_rules::PolicyViolations evaluated(const model::Site& at, const site_rules::ResourceRequest& demand) {
  return site_rules::evaluate_policy(at, site_rules::place(at, demand), demand);
}

} // namespace

TEST_CASE(
    "a limit is its partition's, its QoS's where that has one, and none where another may take the job") {
  auto at = four_gpus();
  auto demand = demand_for({"tiny"});
  demand.nodes = 2;
  auto violations = evaluated(at, demand);
  REQUIRE(violations.size() == 1);
  CHECK(violations[0].rule == SiteRule::nodes_over);
  CHECK(violations[0].certainty == Confidence::definite);
  CHECK(violations[0].have == 2);
  CHECK(violations[0].limit == 1);
  CHECK(violations[0].owner == "partition tiny");
  demand.partitions = {"tiny", "wide"};
  CHECK(evaluated(at, demand).empty());
  model::Qos qos;
  qos.name = "two";
  qos.max_nodes = sourced(2u);
  at.qos = {qos};
  demand.partitions = {"tiny"};
  demand.qos = "two";
  CHECK(evaluated(at, demand).empty());
  demand.nodes = 3;
  REQUIRE(evaluated(at, demand).size() == 1);
  CHECK(evaluated(at, demand)[0].owner == "QoS two");
}

TEST_CASE("how sure a verdict is depends on what is known of the job") {
  const auto at = four_gpus();
  auto demand = demand_for({"tiny"});
  demand.time = minutes(61);
  CHECK(evaluated(at, demand).at(0).certainty == Confidence::definite);
  demand.reserved = true; // a reservation may have limits of its own
  CHECK(evaluated(at, demand).at(0).certainty == Confidence::likely);
  demand.least_time = minutes(60);
  CHECK(evaluated(at, demand).empty());
  demand.least_time = minutes(61);
  CHECK(evaluated(at, demand).size() == 1);
  demand = demand_for({"tiny"});
  demand.elsewhere = true;
  demand.nodes = 100;
  CHECK(evaluated(at, demand).empty());
}

TEST_CASE("shares, cores of the system and queues are judged by number") {
  struct Case {
    const char* what;
    void (*ask)(site_rules::ResourceRequest&);
    std::vector<SiteRule> rules;
  };
  const Case cases[] = {
      {"the share", [](auto& d) { d.cpus_per_node = d.cpus_of_tasks = 7; }, {}},
      {"more in cores",
       [](auto& d) { d.cpus_per_node = d.cpus_of_tasks = 8, d.threads_per_core = 1; },
       {SiteRule::cpu_share}},
      {"CPUs that may be threads", [](auto& d) { d.cpus_per_node = d.cpus_of_tasks = 14; }, {}},
      {"the system's cores",
       [](auto& d) { d.gpus_per_node = d.gpus_on_node = 4, d.cpus_per_node = 31, d.threads_per_core = 1; },
       {SiteRule::cpus_reserved}},
      {"more than there are", [](auto& d) { d.cpus_per_node = 65; }, {SiteRule::cpus_over}},
      {"near its share of memory",
       [](auto& d) { d.mem = model::MemSize::of_mib(26000); },
       {SiteRule::memory_share}},
      {"over it", [](auto& d) { d.mem = model::MemSize::of_mib(30000); }, {SiteRule::memory_share}},
      {"exceeds the largest amount of memory",
       [](auto& d) { d.memory_mib = 100001; },
       {SiteRule::memory_over}},
      {"too many tasks", [](auto& d) { d.array_tasks = 4; }, {SiteRule::jobs_over}},
      {"more GPUs than there are",
       [](auto& d) { d.gpus_per_node = d.gpus_on_node = 5; },
       {SiteRule::gpus_of_node}},
      {"no such type", [](auto& d) { d.gpu_type = "h100"; }, {SiteRule::type_unknown}},
      {"a part of a GPU", [](auto& d) { d.gpu_type = "a100_1g"; }, {}},
  };
  const auto at = four_gpus();
  for (const auto& [what, change, rules] : cases) {
    CAPTURE(what);
    auto demand = demand_for({"tiny"});
    change(demand);
    std::vector<SiteRule> found;
    for (const auto& violation : evaluated(at, demand)) found.push_back(violation.rule);
    CHECK(found == rules);
  }
}

TEST_CASE("an option is judged by the rule of any partition that may take the job") {
  auto at = four_gpus();
  model::SbatchOptionRule rule;
  rule.policy = model::OptionPolicy::required;
  rule.when.partitions = {"tiny"};
  at.flags["time"] = rule;
  CHECK(evaluated(at, demand_for({"wide"})).empty());
  CHECK(evaluated(at, demand_for({"tiny"})).at(0).rule == SiteRule::option_missing);
  CHECK(evaluated(at, demand_for({"wide", "tiny"})).at(0).certainty == Confidence::likely);
  auto submitted = demand_for({"tiny"});
  submitted.stage = site_rules::RequestStage::submitted; // nobody adds it any more
  CHECK(evaluated(at, submitted).at(0).certainty == Confidence::definite);
  submitted.options["time"] = "10";
  CHECK(evaluated(at, submitted).empty());
}

TEST_CASE("GPUs that nodes share unevenly are counted as asked for, not as so many on each node") {
  auto at = four_gpus();
  at.partitions[0].max_gpus = sourced(4u);
  auto demand = demand_for({"wide"});
  demand.nodes = 3;
  demand.gpus_per_node = 2; // on average, and rounded up
  demand.gpus_on_node = 0;
  demand.gpus_in_all = 4;
  for (const auto& violation : evaluated(at, demand)) CHECK(violation.rule != SiteRule::gpus_over);
  demand.gpus_in_all = 5;
  const auto violations = evaluated(at, demand);
  CHECK(std::any_of(violations.begin(), violations.end(), [](const auto& violation) {
    return violation.rule == SiteRule::gpus_over && violation.have == 5 && violation.limit == 4;
  }));
}

TEST_CASE("GPUs of very many nodes are held against a multiple as they are, not as 32 bits of them") {
  auto at = four_gpus();
  at.gpu_request.multiple_of = 3;
  struct Case {
    unsigned nodes;
    std::optional<std::uint64_t> refused; ///< the number of GPUs that is no multiple
  };
  for (const auto& [nodes, refused] :
       {Case{1, 4}, Case{3, {}}, Case{1U << 30, 1ULL << 32}, Case{(1U << 30) + 2, {}}}) {
    CAPTURE(nodes);
    auto demand = demand_for({"wide"});
    demand.nodes = nodes;
    demand.gpus_per_node = 4;
    demand.gpus_on_node = 4;
    demand.gpus_in_all = 4ULL * nodes;
    std::optional<std::uint64_t> found;
    for (const auto& violation : evaluated(at, demand))
      if (violation.rule == SiteRule::gpus_multiple) found = violation.have;
    CHECK(found == refused);
  }
}
