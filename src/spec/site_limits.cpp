// SPDX-License-Identifier: MIT
// Partitions and QoS of a profile, with their limits, and its rules for jobs.
#include <fmt/format.h>

#include "spec/site_parts.hpp"

namespace hpcml::spec {

namespace {

using model::Walltime;

void read_limits(ObjectReader& object, model::Limits& limits) {
  const auto time = [&](std::string_view key) { return object.known(key, object.parsed<Walltime>(key)); };
  const auto count = [&](std::string_view key) { return object.known(key, object.number(key, 1)); };
  limits.max_time = time("max_time");
  limits.min_time = time("min_time");
  limits.min_nodes = count("min_nodes");
  limits.max_nodes = count("max_nodes");
  limits.min_gpus = count("min_gpus");
  limits.max_gpus = count("max_gpus");
  limits.max_node_minutes =
      object.known("max_node_minutes", object.number("max_node_minutes", 1, 1000000000));
  limits.max_jobs = count("max_jobs");
  limits.max_submitted = count("max_submitted");
  const auto below = [&](std::string_view key, const auto& least, const auto& most, const auto& show) {
    if (least && most && least->value > most->value)
      object.report_value(key, fmt::format("{}.{} is {}, more than the limit {}", object.path(), key,
                                           show(least->value), show(most->value)));
  };
  const auto as_time = [](Walltime value) { return value.to_slurm(); };
  const auto as_count = [](unsigned value) { return std::to_string(value); };
  below("min_time", limits.min_time, limits.max_time, as_time);
  below("min_nodes", limits.min_nodes, limits.max_nodes, as_count);
  below("min_gpus", limits.min_gpus, limits.max_gpus, as_count);
}

/// Rows of a time limit by nodes or by GPUs.
template <class Row>
void read_rows(ObjectReader& object, std::string_view key, const char* least, const char* most,
               std::vector<Row>& rows, unsigned Row::*from, unsigned Row::*to) {
  object.each(key, [&](ObjectReader& item) {
    Row row;
    item.require("time", "a time limit for this range");
    row.*from = item.number(least, 1).value_or(1);
    row.*to = item.number(most).value_or(0);
    if (row.*to != 0 && row.*to < row.*from)
      item.report_value(most, fmt::format("{}.{} is below {}", item.path(), most, least));
    if (const auto time = item.parsed<Walltime>("time")) row.time = *time;
    rows.push_back(row);
  });
}

} // namespace

model::Partition read_partition(ObjectReader& object) {
  model::Partition partition;
  object.require("name", "every partition has a name, also one that may not be named in a request");
  object.require("node_types", "say which of the site's node types the partition has");
  partition.name = object.text("name", TextRule::name).value_or("");
  partition.node_types = object.texts("node_types", TextRule::name);
  partition.is_default = object.flag("default").value_or(false);
  partition.nameable = object.flag("nameable").value_or(true);
  partition.exclusive = object.flag("exclusive").value_or(false);
  partition.slurm_exclusive = object.flag("slurm_exclusive");
  read_limits(object, partition);
  partition.default_time = object.known("default_time", object.parsed<Walltime>("default_time"));
  if (partition.default_time && partition.max_time &&
      partition.default_time->value > partition.max_time->value)
    object.report_value("default_time", fmt::format("{}.default_time is {}, more than the limit {}",
                                                    object.path(), partition.default_time->value.to_slurm(),
                                                    partition.max_time->value.to_slurm()));
  partition.node_count = object.known("node_count", object.number("node_count", 1));
  read_rows(object, "max_time_by_nodes", "min_nodes", "max_nodes", partition.max_time_by_nodes,
            &model::TimeByNodes::min_nodes, &model::TimeByNodes::max_nodes);
  read_rows(object, "max_time_by_gpus", "min_gpus", "max_gpus", partition.max_time_by_gpus,
            &model::TimeByGpus::min_gpus, &model::TimeByGpus::max_gpus);
  partition.cpu_only = object.flag("cpu_only").value_or(false);
  partition.preemptible = object.flag("preemptible").value_or(false);
  partition.internet = object.flag("internet");
  partition.on_request = object.choice("access", {"open", "request"}) == "request";
  partition.note = object.text("note").value_or("");
  partition.origin = object.origin();
  return partition;
}

model::Qos read_qos(ObjectReader& object) {
  model::Qos qos;
  object.require("name", "the name that Slurm knows");
  qos.name = object.text("name", TextRule::name).value_or("");
  qos.is_default = object.flag("default").value_or(false);
  qos.partitions = object.texts("partitions", TextRule::name);
  read_limits(object, qos);
  qos.needs = object.texts("needs", TextRule::option);
  qos.preemptible = object.flag("preemptible").value_or(false);
  qos.on_request = object.choice("access", {"open", "request"}) == "request";
  qos.origin = object.origin();
  return qos;
}

void read_policies(ObjectReader& root, model::Site& site) {
  auto policies = root.object("policies");
  if (!policies) return;
  const auto count = [&](std::string_view key) { return policies.known(key, policies.number(key, 1)); };
  site.policies.min_time_recommended =
      policies.known("min_time_recommended", policies.parsed<Walltime>("min_time_recommended"));
  site.policies.max_jobs = count("max_jobs");
  site.policies.max_nodes_per_user = count("max_nodes_per_user");
  site.policies.idle_gpu_minutes = count("idle_gpu_minutes");
  policies.finish();
}

} // namespace hpcml::spec
