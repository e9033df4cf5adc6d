// SPDX-License-Identifier: MIT
// Learning a site's own rules, which Slurm does not show, from requests that are only tested.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/model/site.hpp"
#include "generate/discover/cluster_facts.hpp"
#include "generate/discover/node_kinds.hpp"

namespace hpcml::discover {

/// What the trials showed.
struct DiscoveredSbatchRules {
  std::map<std::string, model::SbatchOptionRule>
      flags; ///< options that are required or refused, with Slurm's own words
  std::optional<model::GpuOptionStyle> gpu_style; ///< the first way to ask for a GPU that was accepted; none:
                                                  ///< all were refused; unset: not tried
  bool gpu_type_required = false;                 ///< GPUs were accepted with their type only
  std::string partition;                          ///< where it was tried
  unsigned requests = 0;                          ///< how many were tested
  std::string why_not;                            ///< set when no request at all was accepted
};

/// Tests small requests with `sbatch --test-only`, which submits nothing: one that is accepted, then that one
/// without each of its options and with each of those that sites refuse, GPUs with and without their type.
/// `account` may be empty.
DiscoveredSbatchRules run_trials(const slurm::Commands& commands, const ClusterFacts& facts,
                                 const std::vector<NodeKind>& kinds, const std::string& account);

} // namespace hpcml::discover
