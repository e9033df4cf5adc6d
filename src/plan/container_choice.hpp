// SPDX-License-Identifier: MIT
// Which of a site's ways to run images is meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job_spec.hpp"
#include "model/site.hpp"
#include "plan/when.hpp"

namespace hpcml::plan {

/// True for a file that holds a folder: ".sqsh", ".squashfs".
bool is_squashed(std::string_view path);
/// The site's engines, each once, in the profile's order.
std::vector<std::string> engine_names(const model::Site& site);
/// The rules for the request's image, whatever else their conditions are: those of the engine that it names, and of these the ones for
/// images of this form; where no form fits, those without one.
std::vector<const model::ContainerRule*> container_rules(const model::Site& site, const model::JobSpec& job);
/// The first of them that holds for the job, or none.
const model::ContainerRule* find_container_rule(const model::Site& site, const model::JobSpec& job, const JobFacts& facts);
/// Whether the job's program leaves the host's files behind.
bool leaves_host(const model::Site& site, const model::JobSpec& job);

} // namespace hpcml::plan
