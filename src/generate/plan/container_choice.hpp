// SPDX-License-Identifier: MIT
// Which of a site's ways to run images is meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"
#include "core/site_rules/facts.hpp"

namespace hpcml::plan {

using ContainerRules = std::vector<const model::ContainerRule*>;

/// True for a file that holds a directory: ".sqsh", ".squashfs".
bool is_squashed(std::string_view path);
/// Whether a file of that name can be in an EDF.
bool fits_edf(std::string_view path);
/// The rules for the request's image, whatever else their conditions are: those of the engine that it names,
/// and of these the ones for images of this form; where no form fits, those without one.
ContainerRules container_rules(const model::Site& site, const model::JobSpec& job);
/// The first of them that holds for the job, or none.
const model::ContainerRule* first_that_applies(const ContainerRules& rules,
                                               const site_rules::JobFacts& facts);
/// Whether the job's program does not show the host's files, with those rules for its image.
bool leaves_host(const model::JobSpec& job, const ContainerRules& rules);

} // namespace hpcml::plan
