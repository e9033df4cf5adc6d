// SPDX-License-Identifier: MIT
// How ranks are connected, and what they make of their values.
#pragma once

#include <chrono>
#include <string>

namespace hpcml::ddp {

/// What all_reduce makes of the ranks' values, element by element.
enum class ReduceOp { sum, product, min, max };

/// How the ranks of a group are connected.
struct GroupOptions {
  std::string backend = "auto"; ///< "nccl", "gloo", or "auto": NCCL where this rank has a GPU
  std::string interface_name;   ///< for Gloo, exact; empty: the variables', else the way to rank 0
  std::chrono::milliseconds timeout{600000}; ///< for the rendezvous, and for each operation: at least 1 s
};

} // namespace hpcml::ddp
