// SPDX-License-Identifier: MIT
// From which NUMA nodes a process gets its memory, as the kernel reports it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/id_set.hpp"

namespace hpcml::topo {

/// How `nodes` are meant.
enum class MemoryPolicyMode {
  local,       ///< the node of the CPU that asks: the kernel's default
  preferred,   ///< others when these are full
  bound,       ///< these or none
  interleaved, ///< page by page
};

/// From which NUMA nodes a thread gets its memory.
struct MemoryPolicy {
  MemoryPolicyMode mode = MemoryPolicyMode::local;
  model::IdSet nodes; ///< empty for local
};

/// "memory preferred from NUMA 3".
std::string render_memory(const MemoryPolicy& policy);

/// The policy in a line of /proc/PID/numa_maps: "7f12 prefer (many):3 file=…"; nothing for any other text.
std::optional<MemoryPolicy> parse_numa_maps(std::string_view line);

/// The calling thread's; nothing where the kernel does not state.
std::optional<MemoryPolicy> read_memory_policy();

} // namespace hpcml::topo
