// SPDX-License-Identifier: MIT
// Limits that concern the job as a whole: partition and QoS, numbers of GPUs, shares of a node, features.
#include <algorithm>
#include <regex>

#include "plan/plan_context.hpp"
#include "slurm/submission.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using model::Limits;
using model::Policy;

std::string nodes_of(const PlanContext& context) {
  const unsigned nodes = context.plan.layout.nodes;
  return std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

/// The partitions with such nodes that take so many, as a hint.
std::string partitions_for(const PlanContext& context, unsigned have, model::Known<unsigned> Limits::*least,
                           model::Known<unsigned> Limits::*most) {
  std::vector<std::string> names;
  for (const auto& partition : context.site.partitions) {
    const auto &low = partition.*least, &high = partition.*most;
    const bool same_nodes =
        context.node() && std::find(partition.node_types.begin(), partition.node_types.end(),
                                    context.node()->id) != partition.node_types.end();
    if (partition.nameable && same_nodes && (!low || have >= low->value) && (!high || have <= high->value))
      names.push_back(partition.name);
  }
  return names.empty() ? "" : "these take so many: " + util::join(names, ", ");
}

/// The QoS that take so many, where the limit is one of the job's QoS.
std::string qos_for(const PlanContext& context, unsigned have, model::Known<unsigned> Limits::*most) {
  if (!context.qos() || !(context.qos()->*most)) return {};
  std::vector<std::string> names;
  for (const auto& other : context.site.qos)
    if (!other.on_request && (!(other.*most) || have <= (other.*most)->value) &&
        (!context.partition() || !context.partition()->nameable ||
         site::is_place_of(&other, context.partition()->name)))
      names.push_back("--qos " + other.name);
  return names.empty() ? ""
                       : "these take so many, for all that the profile knows: " + util::join(names, ", ");
}

void check_counts(PlanContext& context) {
  const model::PlannedLayout& layout = context.plan.layout;
  const unsigned gpus = layout.nodes * layout.gpus_per_node;
  const auto range = [&](unsigned have, const char* what, const std::string& code,
                         model::Known<unsigned> Limits::*least, model::Known<unsigned> Limits::*most) {
    if (const auto& limit = context.limit(most); limit && have > limit->value)
      context.error(code,
                    std::to_string(have) + " " + what + ": " + context.limit_owner(most) + " allows " +
                        std::to_string(limit->value) + site::cited(limit->origin),
                    context.qos() && context.qos()->*most ? qos_for(context, have, most)
                                                          : partitions_for(context, have, least, most));
    if (const auto& limit = context.limit(least); limit && have < limit->value)
      context.error(code,
                    std::to_string(have) + " " + what + ": " + context.limit_owner(least) +
                        " is for jobs with " + std::to_string(limit->value) + " or more" +
                        site::cited(limit->origin),
                    partitions_for(context, have, least, most));
  };
  // The most nodes are checked where the layout is planned.
  if (const auto& least = context.limit(&Limits::min_nodes); least && layout.nodes < least->value)
    context.error("request/nodes", nodes_of(context) + ": " + context.limit_owner(&Limits::min_nodes) +
                                       " is for jobs with " + std::to_string(least->value) + " or more" +
                                       site::cited(least->origin));
  if (gpus > 0) range(gpus, "GPUs in all", "request/gpus", &Limits::min_gpus, &Limits::max_gpus);
  const bool limited = context.limit(&Limits::max_nodes).has_value();
  if (context.partition() && context.partition()->node_count && !limited &&
      layout.nodes > context.partition()->node_count->value)
    context.error("request/nodes", std::to_string(layout.nodes) + " nodes: partition " +
                                       context.partition()->name + " has " +
                                       std::to_string(context.partition()->node_count->value) +
                                       site::cited(context.partition()->node_count->origin));
  else if (context.node() && context.node()->node_count && !limited &&
           layout.nodes > *context.node()->node_count)
    context.error("request/nodes", nodes_of(context) + ": " + context.site.name + " has " +
                                       std::to_string(*context.node()->node_count) + " of type " +
                                       context.node()->id + site::cited(context.node()->origin));
  if (const auto& most = context.site.policies.max_nodes_per_user; most && layout.nodes > most->value)
    context.error("request/nodes", std::to_string(layout.nodes) + " nodes: one user of " + context.site.name +
                                       " may have " + std::to_string(most->value) +
                                       site::cited(most->origin));
  const auto tasks = context.job.array ? slurm::count_array_tasks(context.job.array->value) : 0;
  if (const auto fault = site::job_count_fault(context.site, context.plan.partition, context.plan.qos, tasks))
    context.error("request/array", "--array=" + context.job.array->value + ": " + fault->what, fault->hint);
  if (context.node() && !context.node()->multi_node && layout.nodes > 1)
    context.error("request/nodes",
                  "nodes of type " + context.node()->id + " have no network for jobs on several of them" +
                      site::cited(context.node()->origin),
                  "ask for one node");
}

/// Nodes times time; the shortest time is checked with the longest.
void check_node_time(PlanContext& context) {
  const auto& time = context.job.time;
  if (!time) return;
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(time->value.seconds()).count();
  const auto& most = context.limit(&Limits::max_node_minutes);
  const auto asked = static_cast<unsigned long long>(minutes) * context.plan.layout.nodes;
  if (most && asked > most->value)
    context.error("request/time",
                  nodes_of(context) + " for " + time->value.to_slurm() + ": " +
                      context.limit_owner(&Limits::max_node_minutes) + " allows " +
                      std::to_string(most->value) + " node minutes" + site::cited(most->origin),
                  "at most --time " + std::to_string(most->value / std::max(1u, context.plan.layout.nodes)) +
                      " minutes");
  if (const auto& least = context.site.policies.min_time_recommended; least && time->value < least->value)
    context.warning("request/time", context.site.name + " recommends jobs of " + least->value.to_slurm() +
                                        " or more" + site::cited(least->origin));
}

void check_gpu_rules(PlanContext& context) {
  const model::GpuRequest& rule = context.gpu_request();
  const model::PlannedLayout& layout = context.plan.layout;
  if (layout.gpus_per_node == 0) {
    // Nobody asked for none: without a partition the number is not known yet.
    if (!context.job.gpus_per_node && !context.partition() && !context.site.partitions.empty()) return;
    const bool cpu_partition = context.partition() && context.partition()->cpu_only;
    if (rule.must_request && !cpu_partition)
      context.error("request/gpus-per-node",
                    context.site.name + " refuses jobs without GPUs here" + site::cited(rule.origin),
                    "ask for GPUs: --gpus-per-node N");
    return;
  }
  const unsigned per_node = context.node() && context.node()->gpu ? context.node()->gpu->per_node : 0;
  for (const auto& fault :
       site::gpu_count_faults(context.site, rule, layout.nodes, layout.gpus_per_node, per_node))
    context.error("request/gpus-per-node", fault.what, fault.hint);
  const bool alone = context.node() && context.node()->gpu &&
                     context.node()->gpu->compute_mode == model::ComputeMode::exclusive_process;
  if (alone && layout.ranks_per_node > layout.gpus_per_node)
    context.error("request/tasks-per-node",
                  std::to_string(layout.ranks_per_node) + " ranks share " +
                      std::to_string(layout.gpus_per_node) + " GPUs, and a GPU of " + context.site.name +
                      " takes one process" + site::cited(context.node()->origin),
                  "at most --tasks-per-node " + std::to_string(layout.gpus_per_node));
  if (context.slice() && layout.nodes * layout.ranks_per_node > 1)
    context.warning("request/gpu-type", "ranks on parts of GPUs cannot talk through NCCL",
                    "one rank, or --backend gloo");
}

/// Memory by the GPU's share; cores are checked with the layout.
void check_memory_share(PlanContext& context) {
  const model::NodeType* node = context.node();
  const unsigned gpus = context.plan.layout.gpus_per_node;
  if (!node || !node->mem_per_gpu || gpus == 0 || context.slice() || !context.job.mem) return;
  const auto share = model::MemSize::of_mib(node->mem_per_gpu->mib() * gpus);
  const auto& asked = context.job.mem->value;
  if (site::breaks_share(*node, asked, share))
    context.error("request/mem",
                  "--mem " + asked.to_slurm() + " for " + std::to_string(gpus) + " GPUs: node type " +
                      node->id + " has " + node->mem_per_gpu->to_slurm() + " per GPU" +
                      site::cited(node->origin),
                  "use --mem " + share.to_slurm() + ", or leave it out");
}

void check_qos(PlanContext& context) {
  const auto& wanted = context.job.qos;
  const model::Qos* qos = context.qos();
  const auto& others = context.site.other_qos;
  if (wanted && !qos && !context.site.qos.empty() &&
      std::find(others.begin(), others.end(), wanted->value) == others.end()) {
    std::vector<std::string> names;
    for (const auto& known : context.site.qos) names.push_back(known.name);
    const auto near = util::nearest(wanted->value, names);
    context.warning(
        "request/qos", "the profile of " + context.site.name + " has no QoS '" + wanted->value + "'",
        (near ? "did you mean " + *near + "? " : std::string()) + "it knows: " + util::join(names, ", "));
  }
  if (!qos) return;
  const auto& places = qos->partitions;
  if (context.partition() && !site::is_place_of(qos, context.partition()->name))
    context.error("request/qos",
                  "QoS " + qos->name + " is for " + util::join(places, ", ") + ", not for partition " +
                      context.partition()->name + site::cited(qos->origin),
                  "say --partition " + places.front() + ", or take another QoS");
}

/// The features of --constraint must be the site's.
void check_constraint(PlanContext& context) {
  const auto found = std::find_if(context.plan.directives.begin(), context.plan.directives.end(),
                                  [](const auto& d) { return d.name == "--constraint"; });
  if (found == context.plan.directives.end() || !found->value) return;
  static const std::regex k_word("[A-Za-z0-9_.:-]+");
  const auto& known = context.site.constraints;
  const std::string text = *found->value;
  const auto& operators = context.site.constraint_operators;
  for (const auto& sign : site::unknown_feature_signs(context.site, text))
    context.warning("request/constraint",
                    "the profile of " + context.site.name + " joins features only with " +
                        util::join(operators, " and ") + ": --constraint=" + text,
                    "write it without " + sign);
  const std::vector<std::string> names(std::sregex_token_iterator(text.begin(), text.end(), k_word), {});
  for (const auto& word : site::unknown_features(context.site, names)) {
    const auto near = util::nearest(word, known);
    context.warning(
        "request/constraint", "the profile of " + context.site.name + " knows no feature '" + word + "'",
        (near ? "did you mean " + *near + "? " : std::string()) + "it knows: " + util::join(known, ", "));
  }
}

} // namespace

void check_job_limits(PlanContext& context) {
  check_counts(context);
  check_node_time(context);
  check_gpu_rules(context);
  check_memory_share(context);
  check_qos(context);
  check_constraint(context);
}

} // namespace hpcml::plan
