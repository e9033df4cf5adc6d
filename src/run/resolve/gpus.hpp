// SPDX-License-Identifier: MIT
// The GPUs a task sees, from the runtimes' variables, Slurm's, or the node itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::launch {

/// The GPUs that the runtime will show to this process.
struct VisibleGpus {
  std::vector<std::string> entries; ///< as the variable has them: indices, UUIDs, MIG names
  std::string variable; ///< the variable that limits them; empty: counted on the node, or from Slurm
  std::string
      source; ///< for sentences: "ROCR_VISIBLE_DEVICES=0,1", "SLURM_STEP_GPUS=0,1", "the node's devices"
  bool cut = false; ///< the variable names a GPU that the node does not have, as in `source`, and
                    ///< `entries` end there
};

/// Entries of a visible-devices list; empty, "-1" and "NoDevFiles" hide all GPUs, and so do entries after a
/// "-1".
std::vector<std::string> split_visible_list(const std::string& text);

/// Returns the visible GPUs. `preferred`: the vendor's variable, which is read first (empty: any).
/// `on_node`: number of GPUs on the node, 0 if unknown.
VisibleGpus find_visible_gpus(const util::EnvSnapshot& env, const std::string& preferred, unsigned on_node);

/// Returns the GPUs at `positions` of the list, in that order.
VisibleGpus reorder_gpus(const VisibleGpus& gpus, const std::vector<std::size_t>& positions,
                         const std::string& why);

/// Whether `ranks` ranks on this node with `per_rank` GPUs each find them; a list of exactly `per_rank`
/// entries is taken as this rank's own. The error is a sentence with the numbers and where they come from.
util::Status check_gpus(const VisibleGpus& gpus, const util::EnvSnapshot& env, unsigned ranks,
                        unsigned per_rank);

/// The entries of the list that belong to local rank `local_rank`, joined; the whole list if it is the rank's
/// own already.
std::string gpus_of_local_rank(const VisibleGpus& gpus, unsigned local_rank, unsigned ranks,
                               unsigned per_rank);

} // namespace hpcml::launch
