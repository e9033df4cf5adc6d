// SPDX-License-Identifier: MIT
// The key by which the launchers and stores of a step trust each other, and who has it.
#pragma once

#include <optional>
#include <string>

#include "run/store/channel_key.hpp"

namespace hpcml::launch {

/// A key, and who has it.
struct JobChannelKey {
  std::optional<store::SecretKey> key = {};
  /// True if every rank of the step has the key. False: it was drawn here, for this process and its children;
  /// nothing that other ranks send may be applied, and they apply nothing of what this one sends.
  bool is_shared = false;
  /// True if any process that connects is given the key: agents that have none, which are as open as torch's.
  bool is_open = false;
  std::string origin = {}; ///< for users: "HPCML_JOB_SECRET"; without a shared key: why there is none
};

} // namespace hpcml::launch
