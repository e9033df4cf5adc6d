// SPDX-License-Identifier: MIT
// Scripts for Slurm's Lua plugins: refusals come from slurmctld itself, which asks the site rules.
#pragma once

#include <string>
#include <string_view>

#include "core/model/site.hpp"

namespace hpcml::emulate {

/// `text` as a Lua string literal; every byte that is not a plain character is written as \ddd, so nothing
/// can end the literal.
std::string lua_quote(std::string_view text);

/// job_submit.lua: hands each job over to the evaluation. `evaluate_command`: for the shell, to which the
/// name of a file in `directory` (absolute, without spaces) is added.
std::string make_job_policy(const std::string& evaluate_command, const std::string& directory);

/// cli_filter.lua: other names of GPUs, which jobs and their steps may use.
std::string make_cli_filter(const model::Site& site);

} // namespace hpcml::emulate
