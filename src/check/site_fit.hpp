// SPDX-License-Identifier: MIT
// Where a request would land on a site: its partitions, kinds of node, QoS, and the facts that the profile's
// rules ask for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/site.hpp"
#include "plan/when.hpp"
#include "slurm/job_size.hpp"
#include "slurm/request.hpp"

namespace hpcml::check {

/// One component of a job at a site. What the profile does not tell is empty or null: rules say nothing then.
struct SiteFit {
  std::vector<std::string> named; ///< partitions as the request names them
  std::vector<const model::Partition*>
      partitions; ///< known ones among them, all of which may take the job; where none is named the one that
                  ///< the profile knows for such jobs
  bool sure = false; ///< the job certainly goes to one of `partitions`, and their limits hold for it
  std::vector<const model::NodeType*> nodes; ///< that the partitions have, narrowed by GPU type and features;
                                             ///< all of the site where it has no partitions
  const model::Qos* qos = nullptr;           ///< that the job has, named or by default
  std::string gpu_type;                      ///< as the request names it
  unsigned gpus_per_node = 0;                ///< of a request for so many in all, those of one node
  plan::JobFacts facts;                      ///< for conditional rules, with the first partition and node

  /// error where the job certainly is refused or never starts, else warning.
  diag::Severity severity() const { return sure ? diag::Severity::error : diag::Severity::warning; }
  /// The first partition; nothing where none is known.
  const model::Partition* partition() const { return partitions.empty() ? nullptr : partitions.front(); }
  /// The site's rule for an option ("mem") where it holds for this job, else one that allows everything.
  const model::FlagRule& flag(const model::Site& site, const std::string& name) const;
  /// How GPUs are asked for in this job.
  const model::GpuRequest& gpu_request(const model::Site& site) const;
  /// True if the profile says that the job has its nodes to itself.
  bool owns_nodes() const { return owner || (partition() && partition()->exclusive); }
  bool owner = false; ///< by --exclusive
};

/// What is known of the request at the site.
SiteFit fit_to_site(const slurm::Request& request, const slurm::JobSize& size, const model::Site& site);

/// Whose plugin brings the option to sbatch ("image": Shifter's); nothing where none is known.
std::optional<model::ContainerEngine> engine_of_option(std::string_view name);

/// Whether sbatch has the option ("uenv") at the site by a plugin that the profile tells of.
bool is_site_option(const model::Site& site, std::string_view name);

} // namespace hpcml::check
