// SPDX-License-Identifier: MIT
// What follows from several facts of a profile: the variables of jobs, the ways to Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/site.hpp"

namespace hpcml::model {

/// True if bash, the login, Slurm or a launcher sets the variable on every site: HOME, SLURM_JOB_ID, RANK.
bool is_common_variable(std::string_view name);
/// The variables that a site's profile names or sets for its jobs, each once: SCRATCH of "$SCRATCH/runs".
std::vector<std::string> site_variables(const Site& site);
/// True if jobs of the site have the variable.
bool has_job_variable(const Site& site, const std::string& name);

/// What the variable of a module's directory begins with, EBROOT, if the profile names such a variable of one
/// of its modules: $EBROOTCUDA of cuda/12.2. Empty if it names none.
std::string module_root_prefix(const Site& site);

/// True if the site recommends this way to Python packages.
bool has_python(const Site& site, PythonPackageSource kind);

} // namespace hpcml::model
