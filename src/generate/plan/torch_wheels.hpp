// SPDX-License-Identifier: MIT
// PyTorch's package indexes: for which driver, which GPUs and which CPUs each has wheels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/node_shape.hpp"

namespace hpcml::plan {

/// One index of wheels.
struct WheelIndex {
  std::string name;      ///< "cu128", "rocm6.3", "cpu"
  std::string toolkit;   ///< "12.8", "6.3"; empty for cpu and xpu
  std::string torch_to;  ///< the newest torch there: "2.11"
  std::string python_to; ///< the newest Python that all its torch versions take: "3.13"
};

/// "https://…/cu128".
std::string index_url(const WheelIndex& index);

/// What the wheels must run on.
struct WheelTarget {
  model::GpuVendor vendor = model::GpuVendor::unknown; ///< unknown: for CPUs
  std::vector<std::string> archs;                      ///< "sm_90"; unknown ones are omitted
  model::CpuArch cpu_arch = model::CpuArch::unknown;
  std::string toolkit_max;      ///< the newest CUDA or ROCm that the driver runs; empty if unknown
  std::string toolkit_wanted;   ///< --cuda, --rocm; empty: the best
  std::string limit = "driver"; ///< what sets toolkit_max: the driver, or the base image
};

/// The choice with its reason, or why there is none.
struct WheelChoice {
  std::optional<WheelIndex> index;
  std::string reason; ///< of the choice, or why no index fits
  std::string hint;   ///< what to do where none fits
};
/// The newest index that fits the target, or the wanted one.
WheelChoice choose_wheels(const WheelTarget& target);

/// Whether PyTorch's indexes have this package ("torchvision"); others come from the usual one.
bool is_torch_package(std::string_view requirement);

/// Whether pip installs torch with this package: torch itself, or one that needs it.
bool brings_torch(std::string_view requirement);

} // namespace hpcml::plan
