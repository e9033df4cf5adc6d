// SPDX-License-Identifier: MIT
// Partitions and QoS of a profile, with their limits, and its rules for jobs.
#include <fmt/format.h>

#include "core/config/member_factory.hpp"
#include "core/config/site_parts.hpp"

namespace hpcml::config {

namespace {

using model::Limits;
using model::Walltime;

template <class T> constexpr auto limit_members() {
  using M = MemberFactory<T>;
  return std::to_array<Member<T>>({
      M::template time<&T::max_time>("max_time", "The longest a job may run."),
      M::template time<&T::min_time>("min_time", "The shortest a job may be."),
      M::template count<&T::min_nodes>("min_nodes", "Fewest nodes of a job."),
      M::template count<&T::max_nodes>("max_nodes", "Most nodes of a job."),
      M::template count<&T::min_gpus>("min_gpus", "Fewest GPUs of a job in total."),
      M::template count<&T::max_gpus>("max_gpus", "Most GPUs of a job in total."),
      M::template number<&T::max_node_minutes>("max_node_minutes", 1, 1000000000,
                                               "Nodes times minutes, at most."),
      M::template count<&T::max_jobs>("max_jobs", "Jobs of one user that run at a time."),
      M::template count<&T::max_submitted>("max_submitted", "Jobs of one user that may be queued."),
  });
}

void check_limits(ObjectReader& object, const Limits& limits) {
  const auto below = [&](std::string_view key, const auto& least, const auto& most, const auto& show) {
    if (least && most && least->value > most->value)
      object.report_value(key,
                          fmt::format("{0}.{1} is {2}, which exceeds {0}.max_{3} ({4})", object.path(), key,
                                      show(least->value), key.substr(4), show(most->value)),
                          fmt::format("set {} to {} or less", key, show(most->value)));
  };
  const auto as_time = [](Walltime value) { return value.to_slurm(); };
  const auto as_count = [](unsigned value) { return std::to_string(value); };
  below("min_time", limits.min_time, limits.max_time, as_time);
  below("min_nodes", limits.min_nodes, limits.max_nodes, as_count);
  below("min_gpus", limits.min_gpus, limits.max_gpus, as_count);
}

void check_partition(ObjectReader& object, model::Partition& partition) {
  check_limits(object, partition);
  if (partition.default_time && partition.max_time &&
      partition.default_time->value > partition.max_time->value)
    object.report_value("default_time",
                        fmt::format("{0}.default_time is {1}, which exceeds {0}.max_time ({2})",
                                    object.path(), partition.default_time->value.to_slurm(),
                                    partition.max_time->value.to_slurm()),
                        fmt::format("set default_time to {} or less", partition.max_time->value.to_slurm()));
}

void check_ends(ObjectReader& row, std::string_view least, std::string_view most, unsigned from,
                unsigned to) {
  if (to != 0 && to < from)
    row.report_value(
        most, fmt::format("{0}.{1} is {2}, which is below {0}.{3} ({4})", row.path(), most, to, least, from),
        fmt::format("set {} to {} or more, or remove it for no upper limit", most, from));
}

} // namespace

template <> const ObjectSchema<model::TimeByNodes>& schema_of() {
  using T = model::TimeByNodes;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::count<&T::min_nodes>("min_nodes", "From N nodes on."),
      M::number<&T::max_nodes>("max_nodes", 0, MemberSchema::k_most, "Up to N; 0 or absent: no upper end."),
      M::time<&T::time>("time", "The longest such a job may run.").must("set a time limit for this range"),
  });
  static constexpr ObjectSchema<T> k_schema{
      "time_by_nodes", "A time limit by nodes.", k_members, [](ObjectReader& row, T& value) {
        check_ends(row, "min_nodes", "max_nodes", value.min_nodes, value.max_nodes);
      }};
  return k_schema;
}

template <> const ObjectSchema<model::TimeByGpus>& schema_of() {
  using T = model::TimeByGpus;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::count<&T::min_gpus>("min_gpus", "From N GPUs in the whole job on."),
      M::number<&T::max_gpus>("max_gpus", 0, MemberSchema::k_most, "Up to N; 0 or absent: no upper end."),
      M::time<&T::time>("time", "The longest such a job may run.").must("set a time limit for this range"),
  });
  static constexpr ObjectSchema<T> k_schema{
      "time_by_gpus", "A time limit by GPUs.", k_members, [](ObjectReader& row, T& value) {
        check_ends(row, "min_gpus", "max_gpus", value.min_gpus, value.max_gpus);
      }};
  return k_schema;
}

template <> const ObjectSchema<model::Partition>& schema_of() {
  using T = model::Partition;
  using M = MemberFactory<T>;
  static constexpr auto k_members = joined(
      limit_members<T>(),
      std::to_array<Member<T>>({
          M::text<&T::name>("name", TextRule::name, "Slurm's name.")
              .must("set a name: every partition has one, also one that must not be named in a request"),
          M::texts<&T::node_types>("node_types", TextRule::name, "Its node types, the default one first.")
              .must("set which of the site's node types the partition has"),
          M::yes_no<&T::is_default>("default",
                                    "hpcml uses it when a request names no partition, and so does Slurm "
                                    "unless slurm_default is false. Omit it if users must choose."),
          M::yes_no<&T::slurm_default>("slurm_default",
                                       "Whether Slurm uses it for jobs that name none, where that differs "
                                       "from default or is not known (false)."),
          M::yes_no<&T::nameable>("nameable", "false: jobs may not name it."),
          M::yes_no<&T::exclusive>("exclusive", "Whole nodes only."),
          M::yes_no<&T::slurm_exclusive>("slurm_exclusive", "What Slurm itself enforces, where it differs."),
          M::yes_no<&T::cpu_only>("cpu_only", "No GPUs."),
          M::count<&T::node_count>("node_count", "How many nodes it has."),
          M::time<&T::default_time>("default_time", "What a job gets that names no time."),
          M::objects<&T::max_time_by_nodes>(
              "max_time_by_nodes", "Limits that depend on the number of nodes, the first that fits."),
          M::objects<&T::max_time_by_gpus>("max_time_by_gpus",
                                           "Limits that depend on the number of GPUs, the first that fits."),
          M::yes_no<&T::preemptible>("preemptible", "Jobs may be preempted."),
          M::yes_no<&T::internet>("internet",
                                  "Whether its nodes reach the internet, where they differ from the others."),
          M::either<&T::on_request>("access", &open_or_request,
                                    "Who may use it; on request: after an application."),
          M::text<&T::note>("note", TextRule::line, "A remark for users."),
      }));
  static constexpr ObjectSchema<T> k_schema{"partition", "A partition.", k_members, &check_partition};
  return k_schema;
}

template <> const ObjectSchema<model::Qos>& schema_of() {
  using T = model::Qos;
  using M = MemberFactory<T>;
  static constexpr auto k_members = joined(
      limit_members<T>(),
      std::to_array<Member<T>>({
          M::text<&T::name>("name", TextRule::name, "Slurm's name.").must("set the name that Slurm knows"),
          M::yes_no<&T::is_default>(
              "default", "Slurm gives it to jobs that name none, or hpcml does where one must be named."),
          M::texts<&T::partitions>("partitions", TextRule::name, "Where it can be used; absent: everywhere."),
          M::texts<&T::needs>("needs", TextRule::option,
                              "Options that a job under it must have: --exclusive."),
          M::yes_no<&T::preemptible>("preemptible", "Jobs may be preempted."),
          M::either<&T::on_request>("access", &open_or_request, "Who may use it."),
      }));
  static constexpr ObjectSchema<T> k_schema{
      "qos", "A quality of service. Its limits stand in for the partition's.", k_members,
      [](ObjectReader& object, T& qos) { check_limits(object, qos); }};
  return k_schema;
}

template <> const ObjectSchema<model::SiteLimits>& schema_of() {
  using T = model::SiteLimits;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::time<&T::min_time_recommended>("min_time_recommended", "Shorter jobs are discouraged."),
      M::count<&T::max_jobs>("max_jobs", "Jobs of one user."),
      M::count<&T::max_nodes_per_user>("max_nodes_per_user", "Nodes of all jobs of one user."),
      M::count<&T::idle_gpu_minutes>("idle_gpu_minutes", "Jobs whose GPUs idle for this time are stopped."),
  });
  static constexpr ObjectSchema<T> k_schema{"policies", "Rules for jobs.", k_members};
  return k_schema;
}

} // namespace hpcml::config
