// SPDX-License-Identifier: MIT
// Decides which process starts the rendezvous store of a program, and which variable its torch gets. Pure.
#pragma once

#include <string>

#include "core/model/rank_choices.hpp"
#include "run/find_torch/find_torch.hpp"
#include "run/store/hpcml_protocol.hpp"

namespace hpcml::launch {

using model::StoreProvider;

/// What is decided for a program.
struct StoreSelection {
  bool own = false; ///< our server at MASTER_ADDR:MASTER_PORT; false: rank 0's program opens it
  store::AgentStoreUse agent_store = store::AgentStoreUse::unset; ///< in each rank's environment
  std::string reason;       ///< one sentence, without a full stop, for --dry-run and the report
  bool is_reported = false; ///< rank 0 logs the reason once
};

/// Decides from the torch that was found.
StoreSelection choose_store(StoreProvider choice, const find_torch::TorchLookupResult& torch);

} // namespace hpcml::launch
