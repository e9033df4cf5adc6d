// SPDX-License-Identifier: MIT
// Which driver of NVIDIA a CUDA release needs.
#pragma once

#include <array>
#include <string_view>

#include "core/util/text.hpp"

namespace hpcml::model {

/// The first driver for a major version of CUDA; within one, newer toolkits run on older drivers, with some
/// features missing (docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html, 2026-11-21).
struct CudaDriverRequirement {
  unsigned cuda;          ///< 12
  unsigned branch;        ///< 525
  std::string_view first; ///< "525.60.13"
};

/// For "12.6" or "12"; null where it is not known.
inline const CudaDriverRequirement* oldest_driver(std::string_view cuda) {
  static constexpr std::array k_drivers = {CudaDriverRequirement{13, 580, "580.65.06"},
                                           CudaDriverRequirement{12, 525, "525.60.13"},
                                           CudaDriverRequirement{11, 450, "450.80.02"}};
  const auto major = util::parse_unsigned(cuda.substr(0, cuda.find('.')));
  for (const auto& driver : k_drivers)
    if (major && *major == driver.cuda) return &driver;
  return nullptr;
}

} // namespace hpcml::model
