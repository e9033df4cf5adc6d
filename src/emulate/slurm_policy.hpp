// SPDX-License-Identifier: MIT
// The site's submission rules as a script for Slurm's job_submit/lua plugin: refusals come from slurmctld
// itself.
#pragma once

#include <string>
#include <string_view>

#include "emulate/cluster_layout.hpp"
#include "model/site.hpp"

namespace hpcml::emulate {

/// `text` as a Lua string literal; every byte that is not a plain character is written as \ddd, so nothing
/// can end the literal.
std::string lua_quote(std::string_view text);

/// The rules of the site as a Lua table, without the code that applies them.
std::string render_policy_table(const model::Site& site, const ClusterLayout& layout);

/// job_submit.lua: the table and the code.
std::string make_job_policy(const model::Site& site, const ClusterLayout& layout);

/// cli_filter.lua: other names of GPUs, which jobs and their steps may use.
std::string make_cli_filter(const model::Site& site);

} // namespace hpcml::emulate
