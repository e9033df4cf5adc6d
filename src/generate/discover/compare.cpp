// SPDX-License-Identifier: MIT
#include "generate/discover/compare.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/config/text_rule.hpp"
#include "core/site_rules/placement.hpp"
#include "core/util/text.hpp"
#include "generate/discover/compare_nodes.hpp"
#include "generate/discover/generated_profile.hpp"

namespace hpcml::discover {

namespace {

using diag::Severity;
using model::Partition;
using slurm::PartitionRecord;

const PartitionRecord* find_record(const ClusterFacts& facts, const std::string& name) {
  const auto found = std::find_if(facts.partitions.begin(), facts.partitions.end(),
                                  [&](const PartitionRecord& record) { return record.name == name; });
  return found == facts.partitions.end() ? nullptr : &*found;
}

bool is_required(const model::Site& site, const std::string& flag) {
  return site.flag(flag).policy == model::OptionPolicy::required;
}

/// A limit of the profile against the cluster's: a higher one lets requests through that Slurm refuses.
template <class T, class ToText>
void compare_limit(ProfileDifferences& drift, const std::string& fact, const model::Known<T>& profile,
                   const std::optional<T>& cluster, ToText to_text) {
  if (!profile && !cluster) return;
  if (!profile) {
    drift.add(Severity::note, "unknown",
              fmt::format("{}: not in the profile, but {} on the cluster", fact, to_text(*cluster)));
  } else if (!cluster) {
    drift.add(Severity::warning, "limit",
              fmt::format("{}: {} in the profile, but without limit on the cluster", fact,
                          to_text(profile->value)));
  } else if (profile->value != *cluster) {
    drift.add(profile->value > *cluster ? Severity::error : Severity::warning, "limit",
              fmt::format("{}: {} in the profile, but {} on the cluster", fact, to_text(profile->value),
                          to_text(*cluster)));
  }
}

void compare_partition(ProfileDifferences& drift, const Partition& partition, const PartitionRecord& record,
                       const ClusterFacts& facts) {
  const auto at = fmt::format("partition {}", partition.name);
  const auto limits = find_limits(record, facts.qos);
  const auto time = [](const model::Walltime& limit) { return limit.to_slurm(); };
  const auto count = [](unsigned number) { return std::to_string(number); };
  compare_limit<model::Walltime>(drift, fmt::format("{}: max_time", at), partition.max_time, limits.max_time,
                                 time);
  compare_limit<unsigned>(drift, fmt::format("{}: max_nodes", at), partition.max_nodes, limits.max_nodes,
                          count);
  if (partition.default_time && record.default_time && partition.default_time->value != *record.default_time)
    drift.add(Severity::error, "limit",
              fmt::format("{}: default_time: {} in the profile, but {} on the cluster", at,
                          partition.default_time->value.to_slurm(), record.default_time->to_slurm()));
  else if (partition.default_time && !record.default_time)
    drift.add(Severity::warning, "limit",
              fmt::format("{}: default_time: {} in the profile, but none on the cluster", at,
                          partition.default_time->value.to_slurm()));
  else if (!partition.default_time && record.default_time)
    drift.add(Severity::note, "unknown",
              fmt::format("{}: default_time: not in the profile, but {} on the cluster", at,
                          record.default_time->to_slurm()));
  const bool exclusive = partition.slurm_exclusive.value_or(partition.exclusive);
  if (exclusive != record.whole_nodes)
    drift.add(Severity::error, "exclusive",
              fmt::format("{}: jobs get {} in the profile, but {} on the cluster", at,
                          exclusive ? "whole nodes" : "parts of nodes",
                          record.whole_nodes ? "whole nodes" : "parts of nodes"));
  if (!record.up) drift.add(Severity::note, "down", fmt::format("{}: not up now", at));
}

void compare_partitions(ProfileDifferences& drift, const model::Site& site, const ClusterFacts& facts,
                        const std::vector<NodeKind>& kinds) {
  std::vector<std::string> names;
  for (const auto& record : facts.partitions) names.push_back(record.name);
  for (const auto& partition : site.partitions) {
    const auto* record = find_record(facts, partition.name);
    if (record != nullptr) {
      compare_partition(drift, partition, *record, facts);
      compare_nodes(drift, site, partition, kinds);
    } else if (partition.nameable) {
      const auto near = util::nearest(partition.name, names);
      drift.add(Severity::error, "partition",
                fmt::format("partition {}: the cluster has no partition of this name", partition.name),
                near ? fmt::format("use {} if it was renamed", *near)
                     : fmt::format("use one of {}", util::join(names, ", ")));
    } else {
      drift.add(Severity::note, "unknown",
                fmt::format(
                    "partition {}: the cluster has no partition of this name, but jobs cannot name it anyway",
                    partition.name));
    }
  }
  for (const auto& record : facts.partitions)
    if (site.find_partition(record.name) == nullptr && !record.root_only &&
        config::text_fault(record.name, config::TextRule::name).empty())
      drift.add(Severity::warning, "partition",
                fmt::format("partition {}: not in the profile, but on the cluster", record.name));
}

/// `names_default`: scripts of the profile name its default partition.
void compare_no_default(ProfileDifferences& drift, const model::Site& site, bool names_default) {
  if (!site.partitions.empty() && !is_required(site, "partition") && !names_default)
    drift.add(Severity::error, "default",
              "flags.partition: the cluster has no default partition, but the profile does not require one",
              "add \"partition\": {\"policy\": \"required\"} to its flags");
  if (const auto* usual = site_rules::slurm_default_partition(site); usual && usual->nameable)
    drift.add(Severity::warning, "default",
              fmt::format("default partition: {} in the profile, but the cluster has none", usual->name),
              "set slurm_default to false if only hpcml uses that partition by default");
}

/// Slurm's default partition matters where the profile names none in scripts.
void compare_default(ProfileDifferences& drift, const model::Site& site, const ClusterFacts& facts) {
  const auto slurm = std::find_if(facts.partitions.begin(), facts.partitions.end(),
                                  [](const PartitionRecord& record) { return record.is_default; });
  const auto profile = std::find_if(site.partitions.begin(), site.partitions.end(),
                                    [](const Partition& partition) { return partition.is_default; });
  if (slurm == facts.partitions.end())
    return compare_no_default(drift, site, profile != site.partitions.end() && profile->nameable);
  if (profile != site.partitions.end() && !profile->nameable && profile->name != slurm->name)
    drift.add(Severity::error, "default",
              fmt::format("default partition: {} in the profile (not named), but {} on the cluster",
                          profile->name, slurm->name));
  const auto* usual = site_rules::slurm_default_partition(site);
  const bool exists = usual && std::any_of(facts.partitions.begin(), facts.partitions.end(),
                                           [&](const auto& record) { return record.name == usual->name; });
  if (exists && usual->name != slurm->name)
    drift.add(
        Severity::warning, "default",
        fmt::format("default partition: {} in the profile, but {} on the cluster", usual->name, slurm->name),
        "set slurm_default to false if only hpcml uses that partition by default");
  if (profile == site.partitions.end() && !is_required(site, "partition"))
    drift.add(Severity::note, "unknown",
              fmt::format("default partition: not in the profile, but {} on the cluster", slurm->name));
}

/// "24.11" of "24.11.5"
std::string series(const std::string& version) {
  const auto dot = version.find('.');
  return version.substr(0, version.find_first_not_of("0123456789", dot == std::string::npos ? 0 : dot + 1));
}

void compare_version(ProfileDifferences& drift, const model::Site& site, const ClusterFacts& facts) {
  const auto& cluster = facts.config.version;
  if (cluster.empty()) return;
  if (!site.slurm_version)
    drift.add(Severity::note, "unknown",
              fmt::format("slurm_version: not in the profile, but {} on the cluster", cluster));
  else if (series(site.slurm_version->value) != series(cluster))
    drift.add(Severity::warning, "version",
              fmt::format("slurm_version: {} in the profile, but {} on the cluster",
                          site.slurm_version->value, cluster));
}

} // namespace

diag::Diagnostics compare_site(const model::Site& site, const ClusterFacts& facts,
                               const std::vector<NodeKind>& kinds) {
  ProfileDifferences drift;
  compare_version(drift, site, facts);
  if (needs_account(facts) && !is_required(site, "account"))
    drift.add(Severity::warning, "account",
              "flags.account: the cluster starts no job without an account and has no default one, but the "
              "profile does not require it");
  compare_default(drift, site, facts);
  compare_partitions(drift, site, facts, kinds);
  return drift.take();
}

} // namespace hpcml::discover
