// SPDX-License-Identifier: MIT
// The instruction set of a GPU: what a build of PyTorch must have been made for.
#pragma once

#include <string>

#include "core/model/node_shape.hpp"

namespace hpcml::model {

/// "sm_90", "gfx90a": the profile's, else by the model's name, else empty.
/// Models: NVIDIA's list of compute capabilities (developer.nvidia.com/cuda-gpus, 2026-11-21), AMD's of
/// accelerators (rocm.docs.amd.com/en/latest/reference/gpu-arch-specs.html, 2026-11-21).
std::string gpu_arch(const GpuShape& gpu);

} // namespace hpcml::model
