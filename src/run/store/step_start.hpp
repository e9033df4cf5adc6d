// SPDX-License-Identifier: MIT
// Whether a step can start: rank 0's decision, or why the step failed, and who waits for that. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/store/hpcml_protocol.hpp"
#include "run/store/store_table.hpp"

namespace hpcml::store {

class StepStart {
public:
  /// The first decision counts.
  void decide(const std::optional<MasterEndpoint>& decision) {
    if (!x_decision) x_decision = decision;
  }
  /// The first reason counts.
  void fail(const std::string& reason) {
    if (x_failure.empty()) x_failure = reason;
  }
  /// Why the step cannot start; empty: it can.
  const std::string& failure() const { return x_failure; }
  bool has_failed() const { return !x_failure.empty(); }
  /// What a launcher is answered; `port`: the store's own, which a decision may mean.
  JoinReply reply(std::uint16_t port) const {
    JoinReply reply{JoinError::none, {}, x_failure, x_decision.value_or(MasterEndpoint{})};
    if (reply.decision.port == 0) reply.decision.port = port;
    return reply;
  }

  void await_decision(ClientId client) { x_wait_for_decision.push_back(client); }
  void await_all(ClientId client) { x_wait_for_all.push_back(client); }
  void forget(ClientId client) {
    std::erase(x_wait_for_decision, client);
    std::erase(x_wait_for_all, client);
  }
  /// Returns the clients that get a reply now, because rank 0 has decided or the step failed.
  std::vector<ClientId> take_decided() {
    return x_decision || has_failed() ? std::exchange(x_wait_for_decision, {}) : std::vector<ClientId>();
  }
  /// Returns the clients that wait for all ranks.
  std::vector<ClientId> take_waiting_for_all() { return std::exchange(x_wait_for_all, {}); }

private:
  std::optional<MasterEndpoint> x_decision;
  std::string x_failure;
  std::vector<ClientId> x_wait_for_decision, x_wait_for_all;
};

} // namespace hpcml::store
