// SPDX-License-Identifier: MIT
// How a request names partitions and kinds of GPUs, for every planner that takes requests.
#pragma once

#include <string>

#include "diag/diagnostic.hpp"
#include "model/site.hpp"

namespace hpcml::plan {

/// The part of a GPU that Slurm calls so, or none.
const model::GpuSlice* find_slice(const model::GpuShape& gpu, const std::string& type);

/// True if GPUs of this kind, or parts of them, are asked for by `type`.
bool has_gpu_type(const model::GpuShape& gpu, const std::string& type);

/// What is said of a partition that the site does not have, with the name that was probably meant.
diag::Diagnostic unknown_partition(const model::Site& site, const std::string& wanted);

} // namespace hpcml::plan
