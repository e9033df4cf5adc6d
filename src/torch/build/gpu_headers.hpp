// SPDX-License-Identifier: MIT
// What NCCL (on AMD: RCCL, under the same names) takes to be compiled in.
#pragma once

#include "core/util/env_snapshot.hpp"
#include "torch/build/torch_package.hpp"

namespace hpcml::torch_build {

/// Fills gpu_includes and gpu_defines where this torch was built for GPUs and the vendor's headers are here;
/// no_nccl elsewhere.
void find_gpu_headers(TorchPackage& package, const util::EnvSnapshot& env);

} // namespace hpcml::torch_build
