// SPDX-License-Identifier: MIT
// Whether the programs of a world of several ranks trained together, by what they showed. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "run/store/shared_store_activity.hpp"

namespace hpcml::launch {

/// What is known of ranks that all exited with 0.
struct SeparateWorldsEvidence {
  unsigned world_size = 1;           ///< as hpcml has set it
  unsigned local_ranks = 1;          ///< ranks that this process started
  std::vector<unsigned> reporting{}; ///< those of them whose output reports a world of 1
  bool is_reported = false;          ///< a line has reported it when the last of them did
  bool serves_store = false;         ///< a child of this process serves the store that the programs use
  bool connected = false;            ///< a program changed something there
  store::ObservedWorlds seen{};      ///< by that store
};

enum class SeparateWorldsResult {
  none,
  not_connected, ///< no program used the store: independent programs are legal
  separate,      ///< programs were part of a world of 1
};

SeparateWorldsResult check_worlds(const SeparateWorldsEvidence& evidence);

/// Returns the error that reports such programs.
util::Error describe_separate_worlds(const SeparateWorldsEvidence& evidence);

} // namespace hpcml::launch
