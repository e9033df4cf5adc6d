// SPDX-License-Identifier: MIT
// Finds the store of a step among the places where it may be.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/store/client.hpp"
#include "run/store/hpcml_protocol.hpp"

namespace hpcml::store {

/// A numeric address and a port.
struct StoreAddress {
  std::string address;
  std::uint16_t port = 0;
};

/// A store that has welcomed us. Without credentials it is any that answered, and its words count for
/// nothing.
struct FoundStore {
  Client client; ///< still connected
  StoreAddress place;
  JoinReply welcome;
};

/// What a search has come to.
struct StoreSearchResult {
  std::optional<FoundStore> found;
  std::string reason;                  ///< where nothing is found: what each place says
  JoinError refusal = JoinError::none; ///< of the last store that answered and refused
};

struct StoreSearchOptions {
  /// By which the store and this process trust each other; none: what the store says is not to be applied.
  std::optional<Credentials> credentials = {};
  /// The likeliest first: the others are asked when it has not answered at once.
  std::vector<StoreAddress> places;
  std::size_t likely = 1; ///< how many of them are asked at once
  std::chrono::steady_clock::time_point deadline{};
  bool stop_on_refusal = false; ///< a store that is not for us ends the search: there is no other to hope for
  /// A failed step may belong to an earlier run that cannot be distinguished from this one. The search
  /// continues for this long.
  std::chrono::milliseconds failure_retry_window{0};
  std::chrono::seconds warn_after{20};
  /// Called repeatedly with the elapsed time and the state of each endpoint.
  std::function<void(std::chrono::seconds, const std::string&)> slow = {};
};

/// Announces at every place until one says that it is ours: all at once, since one that is silent must not
/// hide another.
StoreSearchResult find_store(const JoinRequest& announcement, const StoreSearchOptions& search);

} // namespace hpcml::store
