// SPDX-License-Identifier: MIT
// Options that a site's plugins bring to sbatch.
#pragma once

#include <string>

#include "core/model/site.hpp"
#include "core/site_rules/resource_request.hpp"
#include "core/slurm/script_header.hpp"

namespace hpcml::check {

/// The word of the directives with an option that is not Slurm's own; length 0 where there is none.
diag::TextRange plugin_word(const slurm::ScriptHeader& header, const std::string& name);

/// Adds the options that plugins of the site read: those that it has rules for.
void add_plugin_options(const model::Site& site, const slurm::ScriptHeader& header,
                        site_rules::ResourceRequest& demand);

} // namespace hpcml::check
