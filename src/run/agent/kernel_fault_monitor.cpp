// SPDX-License-Identifier: MIT
#include "run/agent/kernel_fault_monitor.hpp"

#include <csignal>
#include <sys/wait.h>

namespace hpcml::agent {

const std::string& KernelFaultMonitor::gpu_fault() {
  for (const auto& message : x_kernel.take())
    if (x_gpu_fault.empty()) x_gpu_fault = node_health::find_gpu_fault(message).value_or("");
  return x_gpu_fault;
}

std::optional<std::string> KernelFaultMonitor::find_out_of_memory(int status) const {
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) return std::nullopt;
  return launch::find_out_of_memory(x_memory, launch::read_memory_levels());
}

} // namespace hpcml::agent
