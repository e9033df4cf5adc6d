// SPDX-License-Identifier: MIT
// The site's variables for a job: the same list for the script and for launch.
#pragma once

#include <string>
#include <vector>

#include "core/model/plan.hpp"
#include "core/site_rules/facts.hpp"

namespace hpcml::plan {

/// Network interfaces, device order, then the site's own rules that apply; a later one replaces an earlier of
/// its name.
std::vector<model::PlannedEnv> site_environment(const model::Site& site, const site_rules::JobFacts& facts,
                                                model::GpuVendor gpu_vendor);
/// What ranks without GPUs get: Accelerate joins a process group on CPUs only with this variable.
model::PlannedEnv cpu_rank_variable();
/// True for variables with which OpenMP binds threads to cores. libgomp binds the first one as soon as it is
/// loaded, and everything that the program starts later (data loaders) is bound to the same core.
bool binds_threads(const std::string& name, const std::string& value);
/// OMP_NUM_THREADS for this many cores (not for 0: unknown), and what the site sets with it, but no binding
/// of threads.
std::vector<model::PlannedEnv> openmp_environment(const model::Site& site, unsigned cores);
/// The site's caches for the job.
std::vector<model::PlannedCache> site_caches(const model::Site& site, const site_rules::JobFacts& facts);
/// Returns "${HF_HOME:-${SCRATCH:-$HOME/.cache}/huggingface}": a variable's value, else a directory in the
/// site's scratch; empty if the profile has no scratch directory per user.
std::string place_in_scratch(const model::Site& site, const std::string& variable,
                             const std::string& directory);
/// A directory in `base` on a node's own disk that no other job and no earlier start of this one has:
/// "/tmp/hpcml-$UID-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}-miopen".
std::string job_directory(const model::PlannedLayout& layout, const std::string& base,
                          const std::string& name);
/// Adds a variable; one of the same name goes, and is remembered as superseded.
void set_variable(std::vector<model::PlannedEnv>& env, model::PlannedEnv variable, const std::string& why);

} // namespace hpcml::plan
