// SPDX-License-Identifier: MIT
// The conductor as agents reach it: at a store that the first node's agent serves as a child.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/conductor.hpp"
#include "launch/store_child.hpp"
#include "store/server.hpp"

namespace hpcml::agent {

/// Hears agents at a store and answers with what the conductor decides. All else that is said there is a
/// store's.
class Service : public store::Observer {
public:
  Service(ConductorRules rules, std::function<void(const std::string&)> say);

  bool heard(store::ClientId client, const store::Message& message, store::Answers& answers,
             store::Time now) override;
  void left(store::ClientId client, const std::string& peer, const std::string& why,
            store::Time now) override;
  void round(store::Answers& answers, store::Time now) override;
  bool tick(const store::Table& table, store::Time now) override;

private:
  void collect_orders();

  Conductor x_conductor;
  std::function<void(const std::string&)> x_say;
  std::map<AgentId, std::deque<std::string>> x_waiting; ///< orders, until their agents ask
  std::set<AgentId> x_asks;
};

/// Serves as a child of this process until the run is over or this process ends. Returns once agents can
/// come.
util::Result<launch::StoreChild> start_service(const ConductorRules& rules,
                                               const std::vector<std::string>& addresses,
                                               const std::vector<std::uint16_t>& ports);

} // namespace hpcml::agent
