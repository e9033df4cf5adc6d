// SPDX-License-Identifier: MIT
// Texts of other programs that cases quote and hpcml itself does not read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/id_set.hpp"
#include "core/util/result.hpp"

namespace hpcml::agree {

/// A line of srun --cpu-bind=verbose.
struct BoundTask {
  std::string node;
  unsigned task = 0;  ///< global task number
  unsigned local = 0; ///< number on its node
  model::IdSet cpus;
};

/// "cpu-bind=MASK - nid001, task  1  1 [147695]: mask 0xff set"; also cpu-bind-cores= and the like.
util::Result<BoundTask> parse_verbose_line(std::string_view line);

/// The column "NUMA Affinity" of nvidia-smi topo -m on nodes whose GPUs are NUMA nodes.
struct NumaAffinity {
  std::optional<unsigned> cpu; ///< node of the CPUs
  model::IdSet gpu_memory;     ///< nodes that are memory of GPUs
};

/// "0,2-17": the first entry is the CPUs' node, the rest is memory of GPUs.
util::Result<NumaAffinity> parse_numa_affinity(std::string_view text);

} // namespace hpcml::agree
