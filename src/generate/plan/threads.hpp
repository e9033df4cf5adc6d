// SPDX-License-Identifier: MIT
// How a rank's cores are divided between its own threads and the processes that load its data. Pure.
#pragma once

#include <optional>
#include <vector>

#include "core/model/plan.hpp"

namespace hpcml::plan {

/// What is known of a rank when its threads are counted.
struct ThreadFacts {
  unsigned cores = 0; ///< physical cores of the rank; 0: unknown, and nothing is planned
  bool gpus = false;  ///< the rank computes on GPUs
  std::optional<unsigned> workers_wanted = {}; ///< HPCML_DATALOADER_WORKERS as set by the user
  unsigned threads = 0;                        ///< hardware threads of these cores; 0: one each
};

/// OMP_NUM_THREADS (also PyTorch's threads within an operator) with what the site sets next to it,
/// HPCML_INTEROP_THREADS (operators at a time), HPCML_DATALOADER_WORKERS; each with its reason.
std::vector<model::PlannedEnv> thread_environment(const model::Site& site, const ThreadFacts& facts);

} // namespace hpcml::plan
