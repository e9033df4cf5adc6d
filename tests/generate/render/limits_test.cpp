// SPDX-License-Identifier: MIT
// Each limit of each site: a request at it is planned, one just over it is refused before Slurm sees it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

#include "core/config/site_store.hpp"
#include "flag_values.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/coverage_helper.hpp"
#include "generate/render/render_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

using std::chrono::minutes;

model::Known<model::Walltime> time_of(std::chrono::seconds seconds) {
  return model::Sourced<model::Walltime>{model::Walltime::of(seconds), {}};
}

/// One limit: requests at it and over it.
struct JobStepLine {
  std::string kind;
  model::JobSpec at;
  model::JobSpec over;
};

bool is_planned(const model::JobSpec& job, const model::Site& site) {
  return plan::make_plan(job, site).plan.has_value();
}

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

void add_time_steps(std::vector<JobStepLine>& steps, const model::JobSpec& base,
                    const model::Partition& partition) {
  const auto step = [&](const char* kind, const model::JobSpec& job, std::chrono::seconds at,
                        std::chrono::seconds over) {
    auto low = job, high = job;
    low.time = time_of(at);
    high.time = time_of(over);
    steps.push_back({kind, low, high});
  };
  if (partition.max_time && partition.max_time_by_nodes.empty())
    step("longest time", base, partition.max_time->value.seconds(),
         partition.max_time->value.seconds() + minutes(1));
  if (partition.min_time)
    step("shortest time", base, partition.min_time->value.seconds(),
         partition.min_time->value.seconds() - minutes(1));
  for (const auto& limit : partition.max_time_by_nodes) {
    auto job = base;
    job.nodes = number(limit.min_nodes);
    step("longest time by nodes", job, limit.time.seconds(), limit.time.seconds() + minutes(1));
  }
}

void add_size_steps(std::vector<JobStepLine>& steps, const model::JobSpec& base, const model::Site& site,
                    const model::Partition& partition) {
  const auto nodes = [&](const char* kind, unsigned at, unsigned over) {
    auto low = base, high = base;
    low.nodes = number(at);
    high.nodes = number(over);
    steps.push_back({kind, low, high});
  };
  if (partition.max_nodes) nodes("most nodes", partition.max_nodes->value, partition.max_nodes->value + 1);
  if (partition.min_nodes && partition.min_nodes->value > 1)
    nodes("fewest nodes", partition.min_nodes->value, partition.min_nodes->value - 1);
  if (partition.cpu_only || partition.node_types.size() != 1) return;
  const auto* node = site.find_node_type(partition.node_types.front());
  if (!node || !node->gpu || node->gpu->per_node == 0) return;
  auto low = base, high = base;
  low.gpus_per_node = number(node->gpu->per_node);
  high.gpus_per_node = number(node->gpu->per_node + 1);
  steps.push_back({"GPUs of a node", low, high});
  const bool ignored = site.flag("mem").policy == model::OptionPolicy::ignored; // jobs get all of the node's
  if (!node->memory || node->share_policy == model::CpusPerGpuPolicy::automatic || ignored) return;
  low = high = base;
  low.mem = model::Sourced<model::MemSize>{node->memory->value, {}};
  high.mem = model::Sourced<model::MemSize>{model::MemSize::of_mib(node->memory->value.mib() + 1024), {}};
  steps.push_back({"memory of a node", low, high});
}

/// `gpus` GPUs in all, on as few nodes as can have them; nothing where no number of nodes divides them so.
std::optional<model::JobSpec> with_gpus(const model::JobSpec& base, unsigned gpus, unsigned per_node) {
  if (per_node == 0 || gpus == 0) return std::nullopt;
  for (unsigned nodes = (gpus + per_node - 1) / per_node; nodes <= gpus; ++nodes) {
    if (gpus % nodes != 0) continue;
    auto job = base;
    job.nodes = number(nodes);
    job.gpus_per_node = number(gpus / nodes);
    return job;
  }
  return std::nullopt;
}

/// The GPUs of the partition's biggest node.
unsigned gpus_of_a_node(const model::Site& site, const model::Partition& partition) {
  unsigned most = 0;
  for (const auto& id : partition.node_types)
    if (const auto* node = site.find_node_type(id); node && node->gpu)
      most = std::max(most, node->gpu->per_node);
  return most;
}

/// GPUs of the whole job, node minutes and jobs at a time: of a partition or a QoS.
void add_job_steps(std::vector<JobStepLine>& steps, const model::JobSpec& base, const model::Limits& limits,
                   unsigned per_node, const std::string& of) {
  const auto gpus = [&](const char* kind, unsigned at, unsigned over) {
    const auto low = with_gpus(base, at, per_node), high = with_gpus(base, over, per_node);
    if (low && high) steps.push_back({kind + of, *low, *high});
  };
  // One more, or a node's worth more where the site wants whole nodes: whichever the planner takes but for
  // the limit.
  if (limits.max_gpus)
    gpus("most GPUs", limits.max_gpus->value,
         limits.max_gpus->value +
             (limits.max_gpus->value % std::max(1U, per_node) == 0 && limits.max_gpus->value > per_node
                  ? per_node
                  : 1));
  if (limits.min_gpus && limits.min_gpus->value > 1)
    gpus("fewest GPUs", limits.min_gpus->value, limits.min_gpus->value - 1);
  if (limits.max_node_minutes) {
    auto low = base, high = base;
    const auto all = limits.max_node_minutes->value;
    unsigned nodes = base.nodes->value;
    while (limits.max_time && all / nodes > limits.max_time->value.seconds().count() / 60) ++nodes;
    low.nodes = high.nodes = number(nodes);
    low.time = time_of(minutes(all / nodes));
    high.time = time_of(minutes(all / nodes + 1));
    steps.push_back({"node minutes" + of, low, high});
  }
  if (limits.max_submitted) {
    auto low = base, high = base;
    low.array = text("1-" + std::to_string(limits.max_submitted->value));
    high.array = text("1-" + std::to_string(limits.max_submitted->value + 1));
    steps.push_back({"jobs queued and running" + of, low, high});
  }
}

/// What depends on the number of GPUs, and which numbers of them are taken.
void add_gpu_steps(std::vector<JobStepLine>& steps, const model::JobSpec& base, const model::Site& site,
                   const model::Partition& partition) {
  const unsigned per_node = partition.cpu_only ? 0 : gpus_of_a_node(site, partition);
  add_job_steps(steps, base, partition, per_node, "");
  for (const auto& limit : partition.max_time_by_gpus)
    if (const auto job = with_gpus(base, limit.min_gpus, per_node)) {
      auto low = *job, high = *job;
      low.time = time_of(limit.time.seconds());
      high.time = time_of(limit.time.seconds() + minutes(1));
      steps.push_back({"longest time by GPUs", low, high});
    }
  auto rules = site.gpu_request.more;
  rules.push_back(site.gpu_request);
  for (const auto& rule : rules) {
    const auto& counts = rule.allowed_counts;
    const auto& places = rule.when.node_types;
    const bool is_allowed = places.empty() || (!partition.node_types.empty() &&
                                               std::find(places.begin(), places.end(),
                                                         partition.node_types.front()) != places.end());
    for (unsigned count = 1; is_allowed && count <= per_node && !counts.empty(); ++count) {
      if (std::find(counts.begin(), counts.end(), count) != counts.end()) continue;
      auto low = base, high = base;
      low.gpus_per_node = number(counts.front());
      high.gpus_per_node = number(count);
      steps.push_back({"numbers of GPUs", low, high});
      break;
    }
  }
  if (partition.node_types.size() < 2 || per_node == 0) return;
  auto low = base, high = base;
  low.gpus_per_node = number(per_node);
  high.gpus_per_node = number(per_node + 1);
  steps.push_back({"GPUs of a node", low, high});
}

/// The limits of a QoS, in a partition that takes it.
void add_qos_steps(std::vector<JobStepLine>& steps, const model::JobSpec& base, const model::Qos& qos,
                   unsigned per_node) {
  auto job = base;
  job.qos = text(qos.name);
  if (qos.min_nodes) job.nodes = number(qos.min_nodes->value);
  const auto step = [&](const char* kind, auto change) {
    auto low = job, high = job;
    change(low, 0U);
    change(high, 1U);
    steps.push_back({kind, low, high});
  };
  if (qos.max_time)
    step("longest time of a QoS", [&](model::JobSpec& spec, unsigned more) {
      spec.time = time_of(qos.max_time->value.seconds() + minutes(more));
    });
  if (qos.max_nodes)
    step("most nodes of a QoS",
         [&](model::JobSpec& spec, unsigned more) { spec.nodes = number(qos.max_nodes->value + more); });
  if (qos.min_nodes && qos.min_nodes->value > 1)
    step("fewest nodes of a QoS",
         [&](model::JobSpec& spec, unsigned less) { spec.nodes = number(qos.min_nodes->value - less); });
  add_job_steps(steps, job, qos, per_node, " of a QoS");
}

/// Nodes of one person, whatever the partition.
void add_site_steps(std::vector<JobStepLine>& steps, const model::JobSpec& base, const model::Site& site) {
  const auto& most = site.policies.max_nodes_per_user;
  if (!most) return;
  auto low = base, high = base;
  low.nodes = number(most->value);
  high.nodes = number(most->value + 1);
  steps.push_back({"nodes of one person", low, high});
}

} // namespace

TEST_CASE("a request just over a limit of a site is refused, one at it is not") {
  Coverage coverage;
  std::set<std::string> sites;
  for (const auto& id : config::list_sites({})) {
    const auto load = config::load_site(id, {});
    REQUIRE(load.site);
    if (load.site->state == model::SiteState::retired || load.site->scheduler != model::Scheduler::slurm)
      continue;
    sites.insert(id);
    std::set<std::string> tried_qos;
    auto partitions = load.site->partitions;
    if (partitions.empty()) partitions.emplace_back().nameable = false; // its limits are those of its QoS
    for (const auto& partition : partitions) {
      const auto base = smallest(*load.site, partition);
      if (!base) continue;
      std::vector<JobStepLine> steps;
      add_time_steps(steps, *base, partition);
      add_size_steps(steps, *base, *load.site, partition);
      add_gpu_steps(steps, *base, *load.site, partition);
      if (coverage.count("nodes of one person", id) == 0) add_site_steps(steps, *base, *load.site);
      for (const auto& qos : load.site->qos) {
        const auto& places = qos.partitions;
        const bool is_allowed =
            places.empty() || std::find(places.begin(), places.end(), partition.name) != places.end();
        if (is_allowed && !partition.cpu_only && tried_qos.insert(qos.name).second)
          add_qos_steps(steps, *base, qos, gpus_of_a_node(*load.site, partition));
      }
      for (const auto& step : steps) {
        CAPTURE(id, partition.name, step.kind);
        // Where another rule of the site forbids the request at the limit, nothing is learnt from the one
        // over it.
        if (!is_planned(step.at, *load.site)) {
          coverage.missed(step.kind, id);
          continue;
        }
        coverage.tried(step.kind, id);
        CHECK_FALSE(refusals(step.over, *load.site).empty());
      }
    }
  }
  std::printf("Requests just over a limit that hpcml refuses\n%s", coverage.render(sites).c_str());
  CHECK(coverage.count("longest time") >= 100);
  CHECK(coverage.count("most nodes") >= 50);
  CHECK(coverage.count("GPUs of a node") >= 50);
  for (const auto* kind :
       {"most GPUs", "node minutes", "longest time by GPUs", "jobs queued and running", "numbers of GPUs"}) {
    CAPTURE(kind);
    CHECK(coverage.count(kind) > 0);
  }
}
