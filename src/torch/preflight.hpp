// SPDX-License-Identifier: MIT
// `hpcml-torch preflight`: proves that the ranks can talk, before a training depends on it.
#pragma once

#include <chrono>
#include <string>

#include "torch/torch_compat.hpp"

namespace hpcml::helper {

/// The flags of `hpcml-torch preflight`.
struct PreflightOptions {
  GroupOptions group;
  long long bytes = 0;     ///< of the tensors; 0: 4 MiB on CPUs, 64 MiB on GPUs
  bool store_only = false; ///< stop after the rendezvous
};

/// Runs all phases as one rank; prints JSON lines. Returns k_ok, or k_preflight_failed when a phase failed.
int run_preflight(const PreflightOptions& options);

/// What a check measured. `seconds` is per operation; `gbps` in gigabits per second.
struct Measured {
  double seconds = 0;
  double gbps = 0;
};

/// all_reduce of a tensor whose sum is known element by element; throws std::runtime_error with the first
/// wrong element.
Measured check_all_reduce(ProcessGroup& group, long long bytes);
/// Rank 0 sends to each rank a tensor that only that rank should get; the receiver compares every element.
Measured check_send_receive(ProcessGroup& group, long long bytes);

} // namespace hpcml::helper
