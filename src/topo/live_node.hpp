// SPDX-License-Identifier: MIT
// This node's CPUs and GPUs from the few files of /sys and /proc that binding needs; a full discovery costs hundreds of reads.
#pragma once

#include <string>
#include <vector>

#include "model/node_shape.hpp"
#include "util/result.hpp"

namespace hpcml::topo {

/// Online CPUs by core, NUMA node, L3 and package, below `root` ("" is this machine). Levels that the kernel does not
/// show stay empty; only a machine that does not tell its online CPUs is an error.
util::Result<model::CpuShape> read_live_cpus(const std::string& root = "");

/// GPUs that have a compute driver, in PCI order, with the NUMA node the kernel gives (-1 stays unknown).
std::vector<model::GpuPlace> read_live_gpus(const std::string& root = "");

} // namespace hpcml::topo
