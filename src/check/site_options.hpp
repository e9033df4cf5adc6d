// SPDX-License-Identifier: MIT
// Options that a site's plugins bring to sbatch.
#pragma once

#include <optional>
#include <string_view>

#include "model/site.hpp"

namespace hpcml::check {

/// Whose plugin brings the option to sbatch ("image": Shifter's); nothing where none is known.
std::optional<model::ContainerEngine> engine_of_option(std::string_view name);

/// Whether sbatch has the option ("uenv") at the site by a plugin that the profile tells of.
bool is_site_option(const model::Site& site, std::string_view name);

} // namespace hpcml::check
