// SPDX-License-Identifier: MIT
// A job that is submitted to an emulated cluster, before the site rules.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/site.hpp"
#include "core/util/result.hpp"
#include "emulate/cluster_layout.hpp"

namespace hpcml::emulate {

/// Members of Slurm's job description, by their names there; those that are not set are missing.
using SubmittedFields = std::map<std::string, std::string, std::less<>>;
/// "NAME LENGTH\nVALUE\n" for each, as the filter writes them; an error where the text is cut.
util::Result<SubmittedFields> parse_submission(std::string_view text);

/// What the site's own filter would do with the job.
struct JobAdmission {
  std::string partition; ///< that the job goes to where it names none; empty: the cluster's default
  std::vector<std::string> refusals; ///< sentences for the user; none: the job is taken
};
/// The evaluation's answer. What slurm.conf says of partitions and nodes is left to Slurm.
JobAdmission evaluate_submission(const model::Site& site, const ClusterLayout& layout,
                                 const SubmittedFields& fields);
/// For the filter: "taken PARTITION" or "refused", then a sentence on each line.
std::string render_admission(const JobAdmission& admission);

} // namespace hpcml::emulate
