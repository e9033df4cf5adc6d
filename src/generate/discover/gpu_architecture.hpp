// SPDX-License-Identifier: MIT
// What a GPU's type in GRES states about the hardware.
#pragma once

#include <string>
#include <string_view>

#include "core/model/gpu_vendor.hpp"

namespace hpcml::discover {

/// A type of GPU, as far as its name shows it.
struct GpuArchitecture {
  model::GpuVendor vendor = model::GpuVendor::unknown; ///< unknown: the type does not state
  std::string arch;                                    ///< "sm_90", "gfx90a", or empty
};

/// "mi250x", "nvidia_h100_80gb_hbm3", "A100fat" → vendor and architecture, by the product's name in it.
GpuArchitecture find_gpu_architecture(std::string_view gres_type);

/// Whether the type names a slice of a GPU: "a100_3g.20gb".
bool is_gpu_slice(std::string_view gres_type);

} // namespace hpcml::discover
