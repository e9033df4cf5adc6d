// SPDX-License-Identifier: MIT
// Which partition and which kind of node the job goes to.
#include <algorithm>

#include "plan/named_choice.hpp"
#include "plan/plan_context.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

bool wants_gpus(const PlanContext& context) {
  return !context.job.gpus_per_node || context.job.gpus_per_node->value > 0;
}

using Nodes = std::vector<const model::NodeType*>;

/// "h200" of "nvidia_h200", "NVIDIA H200" or "h200-141gb": what people call a GPU; empty where a name has no
/// such word.
std::string gpu_word(const std::string& name) {
  const auto text = util::to_lower(name);
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && (is_letter(text[at - 1]) || is_digit(text[at - 1]))) continue;
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    const auto letters = end - at;
    while (end < text.size() && is_digit(text[end])) ++end;
    const auto digits = end - at - letters;
    if (letters >= 1 && letters <= 3 && digits >= 2) return text.substr(at, end - at);
  }
  return {};
}

/// Whether a GPU whose name in Slurm is not known can be of the type, by what people call it.
bool may_be_type(const model::GpuShape& gpu, const std::string& type) {
  const auto asked = gpu_word(type), have = gpu_word(gpu.model);
  return asked.empty() || have.empty() || asked == have;
}

/// Those with GPUs of this type, or with a part of one that is called so; where no name fits, those whose
/// GPUs may have it for all that the profile knows.
Nodes nodes_with_type(const PlanContext& context, const Nodes& nodes, const std::string& type) {
  Nodes named, unnamed;
  for (const auto* node : nodes) {
    if (!node->gpu) continue;
    if (has_gpu_type(*node->gpu, type))
      named.push_back(node);
    else if (node->gpu->slurm_type.empty() && may_be_type(*node->gpu, type))
      unnamed.push_back(node);
  }
  return named.empty() && context.site.gpu_request.type != model::Policy::forbidden ? unnamed : named;
}

Nodes nodes_of(const model::Site& site, const model::Partition& partition) {
  Nodes nodes;
  for (const auto& id : partition.node_types)
    if (const auto* node = site.find_node_type(id)) nodes.push_back(node);
  return nodes;
}

/// The partition that takes the job when the request names none: the site's default if it suits, else the
/// first that does.
const model::Partition* default_partition(PlanContext& context) {
  const bool gpus = wants_gpus(context);
  const auto* type = context.job.gpu_type ? &context.job.gpu_type->value : nullptr;
  const auto has_type = [&](const model::Partition& partition) {
    return !type || !nodes_with_type(context, nodes_of(context.site, partition), *type).empty();
  };
  const bool anywhere = std::any_of(context.site.partitions.begin(), context.site.partitions.end(), has_type);
  const auto* qos = context.job.qos ? context.site.find_qos(context.job.qos->value) : nullptr;
  // Where the site chooses, the QoS that the job names says which of its partitions; where people choose,
  // both are said to disagree.
  const auto suits = [&](const model::Partition& partition) {
    return partition.cpu_only != gpus && (!anywhere || has_type(partition)) &&
           (partition.nameable || is_place_of(qos, partition.name));
  };
  const model::Partition* chosen = context.site.default_partition(suits);
  if (!chosen)
    chosen = context.site.default_partition([](const auto& partition) { return partition.is_default; });
  std::vector<std::string> names;
  for (const auto& partition : context.site.partitions)
    if (partition.nameable && suits(partition)) names.push_back(partition.name);
  // Two kinds of GPU node and no default: a guess would send the job to hardware that nobody asked for.
  if (chosen && !chosen->is_default && chosen->nameable) {
    if (type && anywhere && names.size() == 1) {
      context.note("partition " + chosen->name + ": the only one with GPUs of type " + *type, chosen->origin);
      return chosen;
    }
    context.error("usage/partition",
                  context.site.name + " has no default partition for " + (gpus ? "GPU" : "CPU") + " jobs",
                  "say --partition: " + util::join(names, ", "));
    return nullptr;
  }
  return chosen;
}

const model::Partition* named_partition(PlanContext& context, const model::Sourced<std::string>& wanted) {
  const model::Site& site = context.site;
  const model::FlagRule& rule = context.flag("partition");
  if (rule.policy == model::Policy::forbidden) {
    context.error("request/partition", site.name + " does not let jobs name a partition" + cited(rule.origin),
                  "leave --partition out" + (rule.why.empty() ? "" : ": " + rule.why));
    return nullptr;
  }
  const model::Partition* found = site.find_partition(wanted.value);
  if (!found &&
      rule.policy == model::Policy::discouraged) { // such profiles have stand-ins for the partitions
    context.warning("request/partition", site.name + " asks to leave --partition out" + cited(rule.origin),
                    rule.why);
    return default_partition(context);
  }
  if (!found && !site.partitions.empty()) {
    context.findings.push_back(unknown_partition(site, wanted.value));
  } else if (found && !found->nameable) {
    context.error("request/partition",
                  "partition '" + wanted.value + "' of " + site.name +
                      " is chosen by Slurm and may not be named" + cited(found->origin),
                  "leave --partition out");
  }
  return found;
}

/// A part of a GPU brings its own share of the node.
void take_slice(PlanContext& context) {
  if (!context.slice) return;
  const model::Origin& origin = context.node ? context.node->origin : context.job.gpu_type->origin;
  if (!context.job.gpus_per_node)
    context.job.gpus_per_node = model::Sourced<unsigned>{1, by_rule("one part of a GPU")};
  if (!context.job.cpus_per_task && context.slice->cpus)
    context.job.cpus_per_task = model::Sourced<unsigned>{*context.slice->cpus, origin};
  if (!context.job.mem && context.slice->memory)
    context.job.mem = model::Sourced<model::MemSize>{*context.slice->memory, origin};
  // Where no document says it, the part of the GPU's share that its memory is of the GPU's.
  const auto& part = context.slice->mem_gib;
  const auto whole = context.node && context.node->gpu ? context.node->gpu->mem_gib : std::nullopt;
  if (!part || !whole || *whole == 0 || *part > *whole) return;
  const auto rule = by_rule("the GPU's share by the part's memory");
  if (!context.job.cpus_per_task && context.node->cpus_per_gpu)
    context.job.cpus_per_task =
        model::Sourced<unsigned>{std::max(1u, *context.node->cpus_per_gpu * *part / *whole), rule};
  if (!context.job.mem && context.node->mem_per_gpu)
    context.job.mem = model::Sourced<model::MemSize>{
        model::MemSize::of_mib(context.node->mem_per_gpu->mib() * *part / *whole), rule};
}

/// The QoS that the request names, or the one that Slurm or the site takes for it.
const model::Qos* choose_qos(const PlanContext& context) {
  if (context.job.qos) return context.site.find_qos(context.job.qos->value);
  return default_qos(context.site, context.plan.partition);
}

/// True if one node gives what the request says of it.
bool fits(const PlanContext& context, const model::NodeType& node, unsigned gpus) {
  const auto& mem = context.job.mem;
  return (gpus == 0 || (node.gpu && node.gpu->per_node >= gpus)) &&
         (!mem || !node.memory || mem->value <= node.memory->value);
}

/// The first that fits, else the one with the most GPUs: what is too much for it is said where it is counted.
const model::NodeType* best_of(const PlanContext& context, const Nodes& nodes, unsigned gpus) {
  for (const auto* node : nodes)
    if (fits(context, *node, gpus)) return node;
  return *std::max_element(nodes.begin(), nodes.end(), [](const auto* a, const auto* b) {
    return (a->gpu ? a->gpu->per_node : 0) < (b->gpu ? b->gpu->per_node : 0);
  });
}

void refuse_type(PlanContext& context, const Nodes& candidates) {
  std::vector<std::string> types, models;
  for (const auto* node : candidates) {
    if (!node->gpu) continue;
    if (!node->gpu->slurm_type.empty()) types.push_back(node->gpu->slurm_type);
    if (node->gpu->slurm_type.empty() && !node->gpu->model.empty()) models.push_back(node->gpu->model);
    for (const auto& slice : node->gpu->slices) types.push_back(slice.name);
  }
  const auto near = util::nearest(context.job.gpu_type->value, types);
  context.error("request/gpu-type", "no node here has GPUs of type '" + context.job.gpu_type->value + "'",
                (near ? "did you mean " + *near + "? " : std::string()) +
                    (!models.empty() ? "its GPUs are " + util::join(models, ", ") +
                                           ": leave --gpu-type out, or name another --partition"
                     : types.empty() ? "its GPUs have no type name: leave --gpu-type out"
                                     : "types: " + util::join(types, ", ")));
}

/// Slurm chooses among several kinds of node; a request with the share of one keeps the job from those that
/// have less.
void warn_of_mixture(PlanContext& context, const Nodes& candidates, const model::NodeType& chosen,
                     unsigned gpus) {
  const auto& job = context.job;
  if (gpus == 0 || !chosen.gpu || (job.cpus_per_task && job.mem)) return;
  if (context.site.gpu_request.type == model::Policy::required) return; // the request will name the kind
  std::vector<std::string> others;
  for (const auto* node : candidates) {
    const bool same = node->cpus_per_gpu == chosen.cpus_per_gpu && node->mem_per_gpu == chosen.mem_per_gpu;
    const auto name = node->gpu && !node->gpu->slurm_type.empty() ? node->gpu->slurm_type : node->id;
    if (node != &chosen && node->gpu && fits(context, *node, gpus) && !same &&
        std::find(others.begin(), others.end(), name) == others.end())
      others.push_back(name);
  }
  const auto name = chosen.gpu->slurm_type.empty() ? chosen.id : chosen.gpu->slurm_type;
  if (others.empty()) return;
  context.warning("request/gpu-type",
                  (context.partition ? "partition " + context.partition->name : context.site.name) +
                      " has several kinds of GPU node, and cores and memory of this request are those of " +
                      name + ": nodes that have less per GPU do not get the job",
                  "say --gpu-type " + name + " or another (" + util::join(others, ", ") +
                      "), or --cpus-per-task and --mem that all of them have");
}

/// The node type of the partition (or of the site, where it has no partitions) that has what is asked for.
const model::NodeType* choose_node(PlanContext& context) {
  Nodes candidates;
  if (context.partition) candidates = nodes_of(context.site, *context.partition);
  // With a wrong partition the rest of the request is still checked where the site has one kind of node only.
  if (!context.partition && (context.site.partitions.empty() || context.site.node_types.size() == 1))
    for (const auto& node : context.site.node_types) candidates.push_back(&node);
  if (candidates.empty()) return nullptr;
  unsigned gpus = candidates.front()->gpu ? 1 : 0;
  if (context.job.gpus_per_node) gpus = context.job.gpus_per_node->value;
  if (!context.job.gpu_type) {
    const auto* best = best_of(context, candidates, gpus);
    warn_of_mixture(context, candidates, *best, gpus);
    return best;
  }
  const std::string& type = context.job.gpu_type->value;
  const auto with_type = nodes_with_type(context, candidates, type);
  if (with_type.empty()) {
    refuse_type(context, candidates);
    return candidates.front();
  }
  const auto* node = with_type.front();
  context.slice = find_slice(*node->gpu, type);
  if (!context.slice) node = best_of(context, with_type, gpus);
  if (!context.slice && node->gpu->slurm_type.empty())
    context.warning("request/gpu-type",
                    "the profile of " + context.site.name +
                        " does not know what Slurm calls the GPUs of node type " + node->id +
                        ": --gpu-type " + type + " is taken as it is",
                    "sinfo -o '%P %G' shows the names");
  return node;
}

} // namespace

void choose_cpus_or_gpus(PlanContext& context) {
  auto& job = context.job;
  const model::Site& site = context.site;
  const bool gpu_words = job.gpus_per_node || job.gpus_per_task || job.gpu_type || job.nccl_debug ||
                         (job.backend && job.backend->value == model::Backend::nccl);
  // Several tasks with cores are ranks of a training as often as not; one is a serial program.
  const bool one_task = job.tasks_per_node && job.tasks_per_node->value == 1;
  const bool counts = (job.cpus_per_task && job.mem) || (one_task && (job.cpus_per_task || job.mem));
  if (gpu_words || job.partition || !counts) return;
  const bool cpu_jobs = std::any_of(site.partitions.begin(), site.partitions.end(),
                                    [](const auto& partition) { return partition.cpu_only; });
  const bool by_slurm = std::none_of(site.partitions.begin(), site.partitions.end(),
                                     [](const auto& partition) { return partition.nameable; });
  if (!cpu_jobs && (!by_slurm || site.gpu_request.must_request)) return;
  job.gpus_per_node = model::Sourced<unsigned>{0, by_rule("cores and memory are counted, GPUs are not")};
  context.findings.push_back({diag::Severity::note,
                              "request/gpus-per-node",
                              "a job without GPUs: the request counts cores and memory, and no GPUs",
                              {},
                              "--gpus-per-node N for a job with GPUs"});
}

void plan_partition(PlanContext& context) {
  const model::FlagRule& rule = context.flag("partition");
  if (context.job.partition) {
    context.partition = named_partition(context, *context.job.partition);
    context.plan.partition = context.job.partition->value;
  } else if (!context.site.partitions.empty()) {
    context.partition = default_partition(context);
    if (context.partition) context.plan.partition = context.partition->name;
  } else if (!rule.default_value.empty()) {
    context.plan.partition = rule.default_value;
  }
  context.node = choose_node(context);
  if (context.node) context.plan.node_type = context.node->id;
  take_slice(context);
  if (context.slice)
    context.plan.gpu_type = context.slice->name;
  else if (context.job.gpu_type &&
           (!context.node || !context.node->gpu || context.node->gpu->slurm_type.empty()))
    context.plan.gpu_type = context.job.gpu_type->value;
  context.qos = choose_qos(context);
  context.plan.qos = context.job.qos ? context.job.qos->value : context.qos ? context.qos->name : "";
  if (context.node && context.node->gpu) context.plan.gpu_vendor = context.node->gpu->vendor;
}

} // namespace hpcml::plan
