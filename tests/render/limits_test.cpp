// SPDX-License-Identifier: MIT
// Each limit of each site: a request at it is planned, one just over it is refused before Slurm sees it.
#include <catch2/catch.hpp>

#include <cstdio>
#include <map>
#include <set>

#include "plan/planner.hpp"
#include "render/render_helper.hpp"
#include "spec/site_store.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

using std::chrono::minutes;

model::Sourced<std::string> text(const std::string& value) { return {value, {model::OriginKind::flag, "--x", {}, {}, {}}}; }
model::Sourced<unsigned> number(unsigned value) { return {value, {model::OriginKind::flag, "--x", {}, {}, {}}}; }
model::Known<model::Walltime> time_of(std::chrono::seconds seconds) { return model::Sourced<model::Walltime>{model::Walltime::of(seconds), {}}; }

/// One limit: requests at it and over it.
struct Step {
  std::string kind;
  model::JobSpec at;
  model::JobSpec over;
};

bool is_planned(const model::JobSpec& job, const model::Site& site) { return plan::make_plan(job, site).plan.has_value(); }

/// The codes of all that speaks against the request.
std::set<std::string> refusals(const model::JobSpec& job, const model::Site& site) {
  std::set<std::string> codes;
  for (const auto& finding : plan::make_plan(job, site).diagnostics)
    if (finding.severity == diag::Severity::error) codes.insert(finding.code);
  return codes;
}

/// A request for the partition that the planner takes, with as little as may be; nothing where there is none.
std::optional<model::JobSpec> smallest(const model::Site& site, const model::Partition& partition) {
  auto job = request_for(site);
  if (partition.nameable) job.partition = text(partition.name);
  if (partition.cpu_only) job.gpus_per_node = number(0);
  job.nodes = number(partition.min_nodes ? partition.min_nodes->value : 1);
  if (partition.min_time) job.time = time_of(partition.min_time->value.seconds());
  if (is_planned(job, site)) return job;
  if (!job.gpus_per_node) job.gpus_per_node = number(1); // some do not say how many GPUs a node has
  if (is_planned(job, site)) return job;
  return std::nullopt;
}

void add_time_steps(std::vector<Step>& steps, const model::JobSpec& base, const model::Partition& partition) {
  const auto step = [&](const char* kind, const model::JobSpec& job, std::chrono::seconds at, std::chrono::seconds over) {
    auto low = job, high = job;
    low.time = time_of(at);
    high.time = time_of(over);
    steps.push_back({kind, low, high});
  };
  if (partition.max_time && partition.max_time_by_nodes.empty())
    step("longest time", base, partition.max_time->value.seconds(), partition.max_time->value.seconds() + minutes(1));
  if (partition.min_time) step("shortest time", base, partition.min_time->value.seconds(), partition.min_time->value.seconds() - minutes(1));
  for (const auto& limit : partition.max_time_by_nodes) {
    auto job = base;
    job.nodes = number(limit.min_nodes);
    step("longest time by nodes", job, limit.time.seconds(), limit.time.seconds() + minutes(1));
  }
}

void add_size_steps(std::vector<Step>& steps, const model::JobSpec& base, const model::Site& site, const model::Partition& partition) {
  const auto nodes = [&](const char* kind, unsigned at, unsigned over) {
    auto low = base, high = base;
    low.nodes = number(at);
    high.nodes = number(over);
    steps.push_back({kind, low, high});
  };
  if (partition.max_nodes) nodes("most nodes", partition.max_nodes->value, partition.max_nodes->value + 1);
  if (partition.min_nodes && partition.min_nodes->value > 1) nodes("fewest nodes", partition.min_nodes->value, partition.min_nodes->value - 1);
  if (partition.cpu_only || partition.node_types.size() != 1) return;
  const auto* node = site.find_node_type(partition.node_types.front());
  if (!node || !node->gpu || node->gpu->per_node == 0) return;
  auto low = base, high = base;
  low.gpus_per_node = number(node->gpu->per_node);
  high.gpus_per_node = number(node->gpu->per_node + 1);
  steps.push_back({"GPUs of a node", low, high});
  const bool ignored = site.flag("mem").policy == model::Policy::ignored; // jobs get all of the node's
  if (!node->memory || node->share_policy == model::SharePolicy::automatic || ignored) return;
  low = high = base;
  low.mem = model::Sourced<model::MemSize>{node->memory->value, {}};
  high.mem = model::Sourced<model::MemSize>{model::MemSize::of_mib(node->memory->value.mib() + 1024), {}};
  steps.push_back({"memory of a node", low, high});
}

/// The limits of a QoS, in the first partition that takes it.
void add_qos_steps(std::vector<Step>& steps, const model::JobSpec& base, const model::Qos& qos) {
  auto job = base;
  job.qos = text(qos.name);
  const auto step = [&](const char* kind, auto change) {
    auto low = job, high = job;
    change(low, 0U);
    change(high, 1U);
    steps.push_back({kind, low, high});
  };
  if (qos.max_time) step("longest time of a QoS", [&](model::JobSpec& spec, unsigned more) { spec.time = time_of(qos.max_time->value.seconds() + minutes(more)); });
  if (qos.max_nodes) step("most nodes of a QoS", [&](model::JobSpec& spec, unsigned more) { spec.nodes = number(qos.max_nodes->value + more); });
}

} // namespace

TEST_CASE("a request just over a limit of a site is refused, one at it is not") {
  struct Count {
    unsigned limits = 0, untested = 0;
  };
  std::map<std::string, Count> counts;
  unsigned unknown = 0;
  std::set<std::string> seen; // sites whose QoS have been tried
  for (const auto& id : spec::list_sites({})) {
    const auto load = spec::load_site(id, {});
    REQUIRE(load.site);
    if (load.site->state == model::SiteState::retired || load.site->scheduler != model::Scheduler::slurm) continue;
    for (const auto& partition : load.site->partitions) {
      const auto base = smallest(*load.site, partition);
      if (!base || (!partition.max_time && partition.max_time_by_nodes.empty())) ++unknown;
      if (!base) continue;
      std::vector<Step> steps;
      add_time_steps(steps, *base, partition);
      add_size_steps(steps, *base, *load.site, partition);
      if (!partition.cpu_only && seen.insert(id).second)
        for (const auto& qos : load.site->qos) add_qos_steps(steps, *base, qos);
      for (const auto& step : steps) {
        CAPTURE(id, partition.name, step.kind);
        // Where another rule of the site forbids the request at the limit, nothing is learnt from the one over it.
        if (!is_planned(step.at, *load.site)) {
          CAPTURE(refusals(step.at, *load.site));
          ++counts[step.kind].untested;
          continue;
        }
        ++counts[step.kind].limits;
        CHECK_FALSE(refusals(step.over, *load.site).empty());
      }
    }
  }
  for (const auto& [kind, count] : counts) std::printf("%s: %u limits, %u that another rule hides\n", kind.c_str(), count.limits, count.untested);
  std::printf("partitions whose longest time is not known: %u\n", unknown);
  CHECK(counts["longest time"].limits >= 100);
  CHECK(counts["most nodes"].limits >= 50);
  CHECK(counts["GPUs of a node"].limits >= 50);
}
