// SPDX-License-Identifier: MIT
// Tensors of one rank become those of all.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "hpcml/ddp/process_group.hpp"

namespace hpcml::ddp {

/// Each tensor becomes that of `root`, bit by bit; of any dtype, the same shapes on all ranks. Many small
/// ones travel together, at most `k_broadcast_bytes` at once.
void broadcast_tensors(ProcessGroup& group, const std::vector<at::Tensor>& tensors, int root);

inline constexpr int64_t k_broadcast_bytes = 64 * 1024 * 1024;

} // namespace hpcml::ddp
