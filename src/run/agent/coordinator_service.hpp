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

#include "run/agent/coordinator.hpp"
#include "run/launch/store_child.hpp"
#include "run/resolve/job_channel_key.hpp"
#include "run/store/server.hpp"

namespace hpcml::agent {

/// Receives messages of agents at a store and answers with commands of the coordinator. Other messages are
/// those of a store.
class CoordinatorService : public store::ServerObserver {
public:
  /// `open_secret`: agents need no key, and each that asks is given this one for its ranks' stores; empty:
  /// messages of other clients are ignored.
  CoordinatorService(CoordinatorOptions rules, std::function<void(const std::string&)> report,
                     std::string open_secret = {});

  void authenticated(store::ClientId client, const store::PeerIdentity& identity, store::Time now) override;
  bool on_message(store::ClientId client, const store::TcpStoreMessage& message, store::AnswerSink& answers,
                  store::Time now) override;
  void left(store::ClientId client, const std::string& peer, const std::string& why,
            store::Time now) override;
  void round(store::AnswerSink& answers, store::Time now) override;
  bool tick(const store::StoreTable& table, store::Time now) override;

private:
  void collect_commands();
  RegisterReply reply_to(store::ClientId client, const RegisterRequest& registration, store::Time now);
  /// True if the client may speak for this node of this run.
  bool is_agent(store::ClientId client, const RegisterRequest& registration) const;

  Coordinator x_coordinator;
  std::string x_open_secret;
  std::map<AgentId, store::PeerIdentity> x_identities; ///< proved
  std::function<void(const std::string&)> x_report;
  std::map<AgentId, std::deque<std::string>> x_waiting; ///< commands, until their agents ask
  std::set<AgentId> x_polling;
};

/// Serves as a child of this process until the run is over or this process ends. Returns once agents can
/// come. `channel`: the key that agents must prove; one that is open is given to each.
util::Result<launch::StoreChild> start_service(const CoordinatorOptions& rules,
                                               const launch::JobChannelKey& channel,
                                               const std::vector<std::string>& addresses,
                                               const std::vector<std::uint16_t>& ports);

} // namespace hpcml::agent
