// SPDX-License-Identifier: MIT
// What a GPU vendor's runtime calls things.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace hpcml::model {

/// The variable by which the vendor's runtime, and Slurm for it, choose the visible GPUs; empty for an unknown vendor.
inline std::string visible_devices_variable(std::string_view vendor) {
  if (vendor == "amd") return "ROCR_VISIBLE_DEVICES";
  return vendor == "nvidia" ? "CUDA_VISIBLE_DEVICES" : "";
}

/// All variables that limit what a vendor's runtime shows; Slurm sets one or several of them, by version.
inline constexpr std::array<const char*, 4> k_visible_devices_variables = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                                                           "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};

} // namespace hpcml::model
