// SPDX-License-Identifier: MIT
#include "site/limits.hpp"

#include <algorithm>

#include "site/words.hpp"
#include "util/text.hpp"

namespace hpcml::site {
namespace {

template <class List, class T> bool has(const List& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

} // namespace

model::Known<model::Walltime> time_limit(const model::Partition& partition, unsigned nodes, unsigned gpus) {
  using Limit = model::Sourced<model::Walltime>;
  for (const auto& step : partition.max_time_by_gpus)
    if (gpus >= step.min_gpus && (step.max_gpus == 0 || gpus <= step.max_gpus))
      return Limit{step.time, partition.origin};
  for (const auto& step : partition.max_time_by_nodes)
    if (nodes >= step.min_nodes && (step.max_nodes == 0 || nodes <= step.max_nodes))
      return Limit{step.time, partition.origin};
  return partition.max_time;
}

bool is_place_of(const model::Qos* qos, const std::string& partition) {
  return !qos || qos->partitions.empty() || has(qos->partitions, partition);
}

const model::Qos* default_qos(const model::Site& site, const std::string& partition) {
  for (const auto& qos : site.qos)
    if (qos.is_default && is_place_of(&qos, partition)) return &qos;
  return nullptr;
}

unsigned usable_cores(const model::NodeType& node) {
  unsigned cores = node.cpu.cores;
  for (const auto& core : node.cpu.core_threads)
    if (core.intersects(node.cpu.reserved)) --cores;
  return cores;
}

std::vector<util::Error> gpu_count_faults(const model::Site& site, const model::GpuRequest& rule,
                                          unsigned nodes, unsigned gpus_per_node, unsigned per_node) {
  std::vector<util::Error> faults;
  if (gpus_per_node == 0) return faults;
  const auto& counts = rule.allowed_counts;
  if (!counts.empty() && !has(counts, gpus_per_node)) {
    std::vector<std::string> texts;
    for (const unsigned count : counts) texts.push_back(std::to_string(count));
    faults.push_back({std::to_string(gpus_per_node) + " GPUs per node: " + site.name + " takes only " +
                          util::join(texts, " or ") + cited(rule.origin),
                      {}});
  }
  if (rule.whole_nodes_if_several && nodes > 1 && per_node > 0 && gpus_per_node != per_node)
    faults.push_back({"a job on several nodes of " + site.name + " takes all " + std::to_string(per_node) +
                          " GPUs of each" + cited(rule.origin),
                      "use --gpus-per-node " + std::to_string(per_node)});
  const unsigned all = nodes * gpus_per_node;
  const bool listed = nodes == 1 && has(counts, all);
  if (all % rule.multiple_of != 0 && !listed)
    faults.push_back({std::to_string(all) + " GPUs in all: " + site.name + " takes multiples of " +
                          std::to_string(rule.multiple_of) + cited(rule.origin),
                      {}});
  return faults;
}

std::optional<util::Error> job_count_fault(const model::Site& site, const std::string& partition,
                                           const std::string& qos, unsigned long long jobs) {
  const auto* own = qos.empty() ? nullptr : site.find_qos(qos);
  const auto* place = partition.empty() ? nullptr : site.find_partition(partition);
  const auto& most = limit_of(own, place, &model::Limits::max_submitted);
  if (!most || jobs <= most->value) return std::nullopt;
  return util::Error{std::to_string(jobs) +
                         " jobs at a time: " + limit_owner(site, own, place, &model::Limits::max_submitted) +
                         " lets one user have " + std::to_string(most->value) + " queued and running" +
                         cited(most->origin),
                     "submit at most " + std::to_string(most->value) + ", and more when these have ended"};
}

std::vector<std::string> unknown_features(const model::Site& site, const std::vector<std::string>& names) {
  std::vector<std::string> unknown;
  if (site.constraints.empty()) return unknown;
  for (const auto& name : names)
    if (!has(site.constraints, name) && !has(unknown, name)) unknown.push_back(name);
  return unknown;
}

std::vector<std::string> unknown_feature_signs(const model::Site& site, const std::string& expression) {
  std::vector<std::string> unknown;
  const auto& known = site.constraint_operators;
  for (const std::string sign : {"&", "|"})
    if (!known.empty() && expression.find(sign) != std::string::npos && !has(known, sign))
      unknown.push_back(sign);
  return unknown;
}

} // namespace hpcml::site
