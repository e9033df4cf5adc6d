// SPDX-License-Identifier: MIT
// Options that Slurm itself does not have, but plugins of a site may.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/container_engine.hpp"
#include "core/model/site.hpp"

namespace hpcml::site_rules {

/// What an option that is none of Slurm's can be: one that the profile describes, one of a plugin that it
/// does not describe, as no profile lists all, or nothing but a typo.
enum class PluginOptionStatus : std::uint8_t { brought, possible, none };
/// What the option of this name, without dashes, can be at the site; null: at any.
PluginOptionStatus plugin_option(const model::Site* site, std::string_view name);

/// Whose plugin brings the option to sbatch ("image": Shifter's); nothing where none is known.
std::optional<model::ContainerEngine> engine_of_option(std::string_view name);

} // namespace hpcml::site_rules
