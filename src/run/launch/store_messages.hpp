// SPDX-License-Identifier: MIT
// Who is to serve the store where a program's ranks meet, and how its torch is told.
#pragma once

#include <string>

#include "core/model/rank_choices.hpp"
#include "run/find_torch/find_torch.hpp"
#include "run/store/hpcml_protocol.hpp"

namespace hpcml::launch {

using model::StoreChoice;

/// What is decided for a program.
struct StoreSelection {
  bool own = false; ///< our server at MASTER_ADDR:MASTER_PORT; false: rank 0's program opens it
  store::AgentStore agent_store = store::AgentStore::unset; ///< in each rank's environment
  std::string reason;       ///< one sentence, without a full stop, for --dry-run and the report
  bool is_reported = false; ///< the reason is news to people: to be said once, by rank 0
};

/// Decides from the torch that was found. Pure.
StoreSelection choose_store(StoreChoice choice, const find_torch::TorchFound& torch);

} // namespace hpcml::launch
