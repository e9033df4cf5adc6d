// SPDX-License-Identifier: MIT
// What a store's server does for hpcml's own processes: it counts the ranks, hands rank 0's decision to all
// of them, and says who is missing.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/store/rank_registry.hpp"
#include "run/store/server.hpp"
#include "run/store/service_peers.hpp"
#include "run/store/shared_store_activity.hpp"
#include "run/store/step_start.hpp"
#include "run/store/store_watch.hpp"

namespace hpcml::store {

/// Identity of the run that a store serves.
struct RendezvousServiceOptions {
  std::string job;  ///< others are refused
  std::string step; ///< empty: that of the first who announces itself
  std::chrono::seconds warn_after{20};
  unsigned world_size = 0; ///< ranks of the step; 0: as the first authenticated rank says
};

/// A store that is to stop does not wait for programs of other nodes that were silent for this time. It
/// exceeds torch's own limits of waits, and a process that a rank has left may hold the connection.
constexpr std::chrono::hours k_longest_silence{1};

class RendezvousService : public ServerObserver {
public:
  using MessageSink = std::function<void(const std::string&)>;
  /// `report` receives messages for the log.
  RendezvousService(RendezvousServiceOptions rules, MessageSink report);

  /// The server's own port, which a decision may mean.
  void set_port(std::uint16_t port) { x_port = port; }
  /// Called about twice a second; true ends the service.
  void set_end(std::function<bool(const RendezvousService&, Time)> is_over) {
    x_is_over = std::move(is_over);
  }
  /// Whether the step cannot begin: a rank has said that its program will not start, or rank 0's launcher,
  /// which waits here for all, has gone.
  bool has_failed() const { return x_start.has_failed(); }
  /// Called once every rank has announced itself, or one has failed, before the other ranks are notified.
  void set_complete(std::function<void()> complete) { x_complete = std::move(complete); }

  /// Where it is to stop it serves on while programs of other nodes are connected, of which one has said
  /// something within an hour: those that come neither from one of these addresses, this node's own, nor from
  /// the loopback.
  void stay_for_others(std::vector<std::string> own_addresses) {
    x_peers.count_elsewhere(std::move(own_addresses));
  }

  /// Programs that change something at the store are noted there.
  void set_activity(SharedStoreActivity* activity) { x_activity = activity; }

  void begins(const StoreTable& table, std::size_t most_clients) override {
    x_watch.begins(table);
    x_most_clients = most_clients;
  }
  void connected(ClientId client, const std::string& peer, Time) override {
    x_peers.connect(client, peer);
    x_watch.connected(client, peer);
  }
  bool on_message(ClientId client, const TcpStoreMessage& message, AnswerSink& answers, Time now) override;
  void authenticated(ClientId client, const PeerIdentity& identity, Time now) override;
  void left(ClientId client, const std::string& peer, const std::string& why, Time now) override;
  bool tick(const StoreTable& table, Time now) override;
  bool outlasts_stop(Time now) const override {
    return x_peers.has_programs_elsewhere(now, k_longest_silence);
  }

  const RankRegistry& registry() const { return x_registry; }
  /// Returns the number of clients that are not launchers.
  std::size_t programs() const { return x_peers.programs(); }

private:
  std::size_t unknown() const { return programs() - std::min(programs(), x_registry.known_clients()); }
  void announce(ClientId client, const TcpStoreMessage& message, AnswerSink& answers, Time now);
  void note_unproven(ClientId client, JoinRequest request, AnswerSink& answers, Time now);
  bool receive_own(ClientId client, const TcpStoreMessage& message, AnswerSink& answers, Time now);
  void answer_when_known(AnswerSink& answers);
  void welcome(ClientId client, AnswerSink& answers) const;
  bool all_known() const { return x_registry.complete() || has_failed(); }
  /// Called where that may have become so.
  void notify_complete();
  void report(const std::vector<std::string>& lines) const;
  /// Returns an answer with the reason if the request does not belong to this rendezvous.
  std::optional<JoinReply> refusal(const JoinRequest& request) const;

  RendezvousServiceOptions x_rules;
  MessageSink x_report;
  std::function<bool(const RendezvousService&, Time)> x_is_over;
  std::function<void()> x_complete;
  SharedStoreActivity* x_activity = nullptr;
  std::uint16_t x_port = 0;
  RankRegistry x_registry;
  StoreWatch x_watch;
  std::size_t x_most_clients = ~std::size_t{0};
  StepStart x_start;
  ServicePeers x_peers;
  unsigned x_unproven_lines = 0;
};

} // namespace hpcml::store
