// SPDX-License-Identifier: MIT
// The files in which Linux describes CPUs and memory, generated from the shape of a node.
#pragma once

#include <string>
#include <vector>

#include "core/model/node_shape.hpp"
#include "core/util/result.hpp"

namespace hpcml::emulate {

/// One generated file or directory and the path that it stands in for.
struct GeneratedFileMount {
  std::string source;
  std::string target; ///< "/sys/devices/system/cpu"
};

/// Writes the trees for /sys/devices/system/{cpu,node}, /sys/bus/{cpu,node}/devices, /proc/cpuinfo and
/// /proc/meminfo below `directory` (created if needed). `mem_mib` 0: memory as on this machine. Sizes of
/// caches are typical ones, because profiles do not contain them.
util::Result<std::vector<GeneratedFileMount>>
write_node_view(const std::string& directory, const model::CpuShape& cpu, unsigned long long mem_mib);

/// Writes what this process's control group says of CPUs and memory nodes, for the files of it that exist.
util::Result<std::vector<GeneratedFileMount>> write_cpuset_view(const std::string& directory,
                                                                const model::CpuShape& cpu);

/// A text by which equal views are known, so that nodes of one kind share one tree.
std::string describe_node_view(const model::CpuShape& cpu, unsigned long long mem_mib);

/// `shape` with nothing unknown: one NUMA node and one package where the profile is silent.
model::CpuShape complete_shape(model::CpuShape shape);

/// /proc/cpuinfo for `cpu` (complete), with what it says of a CPU's model taken from `host_text`, this
/// machine's own.
std::string render_cpuinfo(const model::CpuShape& cpu, const std::string& host_text);
/// /proc/meminfo with the sizes of memory replaced.
std::string render_meminfo(const std::string& host_text, unsigned long long mem_mib);

} // namespace hpcml::emulate
