// SPDX-License-Identifier: MIT
#include "core/site_rules/rule_hint.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/model/mem_size.hpp"
#include "core/model/walltime.hpp"
#include "core/site_rules/gpu_names.hpp"
#include "core/site_rules/limits.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/util/choice_hint.hpp"
#include "core/util/text.hpp"

namespace hpcml::site_rules {
namespace {

using util::counted;

/// Returns an option with its value as a request or a script has it.
template <class Value> std::string option(std::string_view name, const Value& value, OptionForm form) {
  return fmt::format("--{}{}{}", name, form == OptionForm::request ? " " : "=", value);
}

unsigned long long divide_up(unsigned long long count, unsigned long long size) {
  return (count + size - 1) / size;
}

std::string memory_text(unsigned long long mib) { return model::MemSize::of_mib(mib).to_slurm(); }

/// True if the profile has only partitions with GPUs, so that the site may have others.
bool describes_gpu_nodes_only(const model::Site& site) {
  return site.other_partitions.empty() &&
         std::all_of(site.partitions.begin(), site.partitions.end(), [&](const model::Partition& partition) {
           return std::all_of(partition.node_types.begin(), partition.node_types.end(), [&](const auto& id) {
             const auto* node = site.find_node_type(id);
             return node && node->gpu;
           });
         });
}

} // namespace

std::string partitions_with_gpus(const model::Site& site, unsigned long long gpus) {
  std::vector<std::string> names;
  for (const auto& partition : site.partitions) {
    const bool enough =
        std::any_of(partition.node_types.begin(), partition.node_types.end(), [&](const auto& id) {
          const auto* node = site.find_node_type(id);
          return node && node->gpu && node->gpu->per_node >= gpus;
        });
    if (partition.nameable && enough) names.push_back(partition.name);
  }
  return util::join(names, ", ");
}

std::string partitions_that_allow(const model::Site& site, const model::NodeType* node, const TimedJob& job) {
  std::vector<std::string> names;
  for (const auto& partition : site.partitions) {
    const auto limit = time_limit(partition, job.nodes, job.gpus);
    const bool fits = limit && job.time <= limit->value &&
                      (!partition.max_nodes || job.nodes <= partition.max_nodes->value);
    if (partition.nameable && fits && (node == nullptr || util::contains(partition.node_types, node->id)))
      names.push_back(fmt::format("{} ({})", partition.name, limit->value.to_slurm()));
  }
  return util::join(names, ", ");
}

std::string hint_of_none(const ViolationContext&, OptionForm) { return {}; }

std::string hint_of_retired(const ViolationContext& context, OptionForm) {
  return describe_retirement(context.site).hint;
}

std::string hint_of_partition(const ViolationContext&, OptionForm) { return "remove --partition"; }

std::string hint_of_partition_name(const ViolationContext& context, OptionForm) {
  const auto names = partition_names(context.site);
  return describes_gpu_nodes_only(context.site) && !names.empty()
             ? fmt::format("check the name: the profile has only partitions with GPUs; {} lists them",
                           show_command(context.site))
             : util::choice_hint(context.violation.name, names, show_command(context.site));
}

std::string hint_of_no_scheduler(const ViolationContext&, OptionForm) {
  return "use hpcml launch -- CMD to start the program";
}

std::string hint_of_nodes_not_connected(const ViolationContext&, OptionForm) { return "request one node"; }

std::string hint_of_gpus_whole_nodes(const ViolationContext& context, OptionForm form) {
  return fmt::format("use {}", option("gpus-per-node", context.violation.limit, form));
}

std::string hint_of_gpus_idle(const ViolationContext& context, OptionForm) {
  return fmt::format("request all {} GPUs, or use a partition that shares nodes", context.violation.limit);
}

std::string hint_of_cpu_nodes(const ViolationContext& context, OptionForm form) {
  if (form == OptionForm::request) return hint_of_gpus_of_node(context, form);
  std::vector<std::string> names;
  for (const auto& partition : context.site.partitions)
    if (!partition.cpu_only && partition.nameable) names.push_back(partition.name);
  return fmt::format("use a partition with GPUs: {}", util::join(names, ", "));
}

std::string hint_of_gpus_of_node(const ViolationContext& context, OptionForm form) {
  const auto& [violation, site, placement, demand] = context;
  const auto others = partitions_with_gpus(site, violation.have);
  if (!others.empty()) return fmt::format("use a partition with enough GPUs per node: {}", others);
  if (violation.limit == 0) return {};
  const auto nodes =
      divide_up(violation.have * std::max(1U, demand.nodes - demand.spare_nodes), violation.limit);
  return form == OptionForm::request
             ? fmt::format("request more nodes: --nodes {} --gpus-per-node {}", nodes, violation.limit)
             : fmt::format("request more nodes: --nodes={} with {} each", nodes,
                           counted(violation.limit, "GPU"));
}

std::string hint_of_gpus_on_nodes(const ViolationContext& context, OptionForm) {
  return fmt::format("request {}",
                     counted(divide_up(context.violation.have, context.violation.limit), "node"));
}

std::string hint_of_gpus_missing(const ViolationContext& context, OptionForm form) {
  if (form == OptionForm::request) return "set --gpus-per-node N";
  const auto style = context.violation.request->style;
  return fmt::format("request GPUs: --{}{}", model::word_of(style),
                     style == model::GpuOptionStyle::gres ? "=gpu:N" : "=N");
}

std::string hint_of_gpu_type(const ViolationContext& context, OptionForm) {
  if (context.violation.rule == SiteRule::type_unknown && !context.placement.partitions.empty())
    if (const auto others = partitions_with_type(context.site, context.violation.name); !others.empty())
      return fmt::format("use a partition with this type: {}", util::join(others, ", "));
  auto nodes = context.placement.nodes;
  if (nodes.empty() && context.demand.partitions.empty())
    for (const auto& node : context.site.node_types) nodes.push_back(&node);
  const auto types = gpu_type_names(nodes);
  if (!types.empty()) return fmt::format("use one of the types {}", util::join(types, ", "));
  const auto models = gpu_models(nodes);
  return models.empty() ? "" : fmt::format("check the type: the GPUs are {}", util::join(models, ", "));
}

std::string hint_of_cpus(const ViolationContext& context, OptionForm) {
  return fmt::format("use at most {} per node", counted(usable_cores(*context.violation.node), "core"));
}

std::string hint_of_cpu_share(const ViolationContext& context, OptionForm) {
  return fmt::format("use {}, the share of these GPUs", counted(context.violation.limit, "core"));
}

std::string hint_of_memory(const ViolationContext& context, OptionForm form) {
  const auto limit = memory_text(context.violation.limit);
  return form == OptionForm::script || context.demand.mem
             ? fmt::format("use at most {}", option("mem", limit, form))
             : fmt::format("request at most {} per node", limit);
}

std::string hint_of_memory_share(const ViolationContext& context, OptionForm form) {
  return fmt::format("use {}, or remove --mem", option("mem", memory_text(context.violation.limit), form));
}

std::string hint_of_time(const ViolationContext& context, OptionForm) {
  if (!context.demand.time) return "set --time to the time that the job needs";
  const auto& nodes = context.placement.nodes;
  const TimedJob job{context.demand.nodes, context.placement.facts.gpu_count, *context.demand.time};
  const auto names = nodes.empty() ? "" : partitions_that_allow(context.site, nodes.front(), job);
  return names.empty() ? "use a shorter time and save checkpoints"
                       : fmt::format("use a shorter time or a partition that allows it: {}", names);
}

std::string hint_of_short_time(const ViolationContext& context, OptionForm form) {
  if (form == OptionForm::request) return {};
  const auto least = model::Walltime::of(std::chrono::seconds(context.violation.limit)).to_slurm();
  return fmt::format("use --time={} or more", least);
}

std::string hint_of_node_minutes(const ViolationContext& context, OptionForm form) {
  const auto minutes = context.violation.limit / std::max(1U, context.demand.nodes);
  return form == OptionForm::request ? fmt::format("use at most --time {}, or fewer nodes", minutes)
                                     : fmt::format("use --time={} or fewer nodes", minutes);
}

std::string hint_of_option(const ViolationContext& context, OptionForm) {
  const auto& name = context.violation.name;
  return context.violation.rule == SiteRule::option_on_srun ? fmt::format("add --{} to srun instead", name)
                                                            : fmt::format("remove --{}", name);
}

std::string hint_of_missing_option(const ViolationContext& context, OptionForm) {
  const auto& [name, flag] = std::pair(context.violation.name, context.violation.flag);
  const auto form = "--" + name + (flag->pattern_hint.empty() ? "" : "=" + flag->pattern_hint);
  return fmt::format("add {} here, or use it on the command line of sbatch", form);
}

std::string hint_of_option_form(const ViolationContext& context, OptionForm) {
  const auto& pattern = context.violation.flag->pattern_hint;
  return pattern.empty() ? "" : fmt::format("use --{}={}", context.violation.name, pattern);
}

std::string hint_of_qos(const ViolationContext& context, OptionForm form) {
  const auto& [violation, site, placement, demand] = context;
  if (violation.rule == SiteRule::qos_needs) return "add #SBATCH " + violation.name;
  if (violation.rule == SiteRule::qos_elsewhere)
    return form == OptionForm::script
               ? "use another QoS or another partition"
               : fmt::format("use --partition {} or another QoS", placement.qos->partitions.front());
  std::vector<std::string> names;
  for (const auto& qos : site.qos) names.push_back(qos.name);
  return util::choice_hint(violation.name, names, show_command(site));
}

std::string hint_of_feature(const ViolationContext& context, OptionForm) {
  const auto& [violation, site, placement, demand] = context;
  if (violation.rule == SiteRule::constraint_operator) return fmt::format("remove the '{}'", violation.name);
  return util::choice_hint(violation.name, site.constraints, show_command(site));
}

std::string hint_of_jobs(const ViolationContext& context, OptionForm form) {
  return form == OptionForm::script
             ? "submit fewer tasks at a time"
             : fmt::format("submit at most {}, and more when these have ended", context.violation.limit);
}

std::string hint_of_request(const ViolationContext&, OptionForm) {
  return "request access from the site, if you have none";
}

} // namespace hpcml::site_rules
