// SPDX-License-Identifier: MIT
// What a GPU vendor's runtime calls things.
#pragma once

#include <string>
#include <string_view>

namespace hpcml::model {

/// The variable by which the vendor's runtime, and Slurm for it, choose the visible GPUs; empty for an unknown vendor.
inline std::string visible_devices_variable(std::string_view vendor) {
  if (vendor == "amd") return "ROCR_VISIBLE_DEVICES";
  return vendor == "nvidia" ? "CUDA_VISIBLE_DEVICES" : "";
}

} // namespace hpcml::model
