// SPDX-License-Identifier: MIT
// The order in which the ranks of a node take its GPUs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::model {

/// The order in which ranks take GPUs.
enum class GpuOrderKind {
  gpu,  ///< local rank = GPU index, which programs that use LOCAL_RANK as device number need
  cpu,  ///< by the lowest CPU near the GPU
  list, ///< as `list` says
  ring, ///< neighbours along the widest links between GPUs
};

/// An order by its name, or GPU numbers in rank order.
struct GpuOrder {
  GpuOrderKind kind = GpuOrderKind::gpu;
  std::vector<unsigned> list = {}; ///< GPU numbers as the step sees them; only for GpuOrderKind::list
  /// "gpu", "cpu", "ring" or "0,1,3,2". An error for anything else.
  static util::Result<GpuOrder> parse(std::string_view text);
  /// As parse reads it.
  std::string text() const;
};

} // namespace hpcml::model
