// SPDX-License-Identifier: MIT
// Faults of this node while its ranks run, as the kernel reports them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/node_health/kernel_log.hpp"
#include "run/launch/out_of_memory.hpp"

namespace hpcml::agent {

/// What has happened since its construction, which is to be before the start of the ranks.
class KernelFaultMonitor {
public:
  KernelFaultMonitor() : x_memory(launch::read_memory_levels()) {}
  /// Returns the first GPU fault; empty: none.
  const std::string& gpu_fault();
  /// Returns why the kernel killed a rank that ended with this status; nothing if it did not.
  std::optional<std::string> find_out_of_memory(int status) const;

private:
  std::vector<launch::MemoryCgroup> x_memory;
  node_health::KernelLog x_kernel;
  std::string x_gpu_fault;
};

} // namespace hpcml::agent
