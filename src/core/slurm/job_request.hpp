// SPDX-License-Identifier: MIT
// What one component of a job asks for: the options that took effect, as plain values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/slurm/gres.hpp"
#include "core/slurm/option_settings.hpp"
#include "core/slurm/values.hpp"

namespace hpcml::slurm {

/// How a job shares its nodes.
enum class NodeSharing {
  site_default,
  exclusive,
  exclusive_user,
  exclusive_mcs,
  exclusive_topo,
  oversubscribe
};

/// What all options of a job together ask for.
struct JobOptions {
  std::map<std::string, OptionSetting, std::less<>> settings; ///< the last of each option
  std::map<std::string, long, std::less<>> counts; ///< numbers by option ("ntasks", "cpus-per-task")
  std::map<std::string, std::uint64_t, std::less<>> memory_mb;    ///< "mem", "mem-per-cpu", "mem-per-gpu"
  std::map<std::string, std::vector<GresItem>, std::less<>> gres; ///< "gres", "gpus", "gpus-per-task" ...
  std::map<std::string, TimeLimit, std::less<>> times;            ///< "time", "time-min", "delay-boot"
  std::optional<NodeCount> nodes;
  std::optional<TresPerTask> tres_per_task;
  std::optional<SignalSpec> signal;
  std::vector<std::string> mail_types;
  Dependencies dependencies;
  std::vector<std::string> features;
  NodeSharing sharing = NodeSharing::site_default;
  bool requeue = true;
  std::vector<OptionSetting> looked_up; ///< each --uid, --gid, --cpu-freq and --gres-flags: a cluster has to
                                        ///< know all of them
  bool expedites = false;               ///< --requeue=expedite, which a later --requeue does not take back
  bool overcommit = false;

  bool has(std::string_view option) const { return settings.find(option) != settings.end(); }
  /// The option's value; empty where it was not given or has none.
  std::string text(std::string_view option) const;
  /// The number of an option, or `otherwise`.
  long count(std::string_view option, long otherwise = 0) const;
  std::uint64_t gpus(std::string_view option) const;
  /// GPUs per node by --gres or --gpus-per-node; where both ask, --gres counts.
  std::uint64_t gpus_per_node() const;
  /// Where the option is.
  TextRange place(std::string_view option) const;
};

/// Reads the values; every one that this version of sbatch refuses goes to `findings`, as do options that
/// exclude each other.
JobOptions make_request(const std::vector<OptionSetting>& settings, ComparisonTrackingVersion version,
                        LocatedFindings& findings);

/// The combinations that sbatch itself refuses.
void check_combinations(const JobOptions& request, ComparisonTrackingVersion version,
                        LocatedFindings& findings);

} // namespace hpcml::slurm
