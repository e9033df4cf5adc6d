// SPDX-License-Identifier: MIT
// The site that a script was written for, as far as its text shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/site.hpp"
#include "core/slurm/job_request.hpp"

namespace hpcml::import_script {

/// What a script shows of its site: names that only some sites have.
struct SiteEvidence {
  std::string_view text;
  const slurm::JobOptions& request;
  std::vector<std::string> modules; ///< that the script loads
};

/// Those of the catalogue's sites and `to` that fit the evidence best; none if none fits. `to` alone if it is
/// one of them: a script is then its own.
std::vector<const model::Site*> find_source_sites(const SiteEvidence& evidence, const model::Site& to,
                                                  const std::vector<model::Site>& catalogue);

/// True if the evidence rules the site out: a partition, an account, a GPU type or a launcher that it has
/// not.
bool contradicts(const SiteEvidence& evidence, const model::Site& site);

/// GPUs on each node that a job on the site gets without asking: sites that count no GPUs give whole nodes. 0
/// if there are none, or if they must be asked for.
unsigned gpus_without_request(const model::Site& site, const slurm::JobOptions& request);

} // namespace hpcml::import_script
