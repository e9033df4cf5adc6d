// SPDX-License-Identifier: MIT
// The #SBATCH options that ask for GPUs and cores, in the site's own style.
#pragma once

#include <optional>
#include <string>

#include "generate/plan/directives.hpp"

namespace hpcml::plan {

/// Appends an option to the job's header; no value: a flag.
void add_directive(Directives& directives, const std::string& name, std::optional<std::string> value,
                   const model::Origin& origin);

/// The option that asks for the GPUs, where they do not come with the node; an error where the site requires
/// a type that is not known.
void add_gpu_directive(const RequestWithLayout& input, PlanStepResult<Directives>& result);

/// --cpus-per-task and what Slurm is to count, or a note why there is none.
void add_core_directives(const RequestWithLaunch& input, PlanStepResult<Directives>& result);

} // namespace hpcml::plan
