// SPDX-License-Identifier: MIT
// Who makes a GPU, and what the vendor's runtime calls things.
#pragma once

#include <array>
#include <string>

#include "core/model/enum_names.hpp"

namespace hpcml::model {

/// Who makes a GPU.
enum class GpuVendor { unknown, nvidia, amd, intel };

template <>
inline constexpr std::array<NamedValue<GpuVendor>, 3> k_words<GpuVendor> = {
    {{"nvidia", GpuVendor::nvidia}, {"amd", GpuVendor::amd}, {"intel", GpuVendor::intel}}};

/// The variable by which the vendor's runtime, and Slurm for it, choose the visible GPUs; empty for an
/// unknown vendor.
inline std::string visible_devices_variable(GpuVendor vendor) {
  if (vendor == GpuVendor::amd) return "ROCR_VISIBLE_DEVICES";
  return vendor == GpuVendor::nvidia ? "CUDA_VISIBLE_DEVICES" : "";
}

/// All variables that limit what a vendor's runtime shows; Slurm sets one or several of them, by version.
inline constexpr std::array<const char*, 4> k_visible_devices_variables = {
    "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};

} // namespace hpcml::model
