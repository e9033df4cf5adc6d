// SPDX-License-Identifier: MIT
// The clients of a rendezvous store: launchers, and programs of this node or of others. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "run/store/session.hpp"
#include "run/store/store_table.hpp"

namespace hpcml::store {

/// A client of the service.
struct ServicePeer {
  std::string address;
  bool launcher = false;                     ///< or another process of hpcml
  bool leads = false;                        ///< it is rank 0's
  bool waits = false;                        ///< for rank 0, without having proved anything
  std::optional<PeerIdentity> identity = {}; ///< proved; none: nothing that it says is applied
  bool elsewhere = false; ///< a program that is waited for: it has said something, and is not of this node
};

class ServicePeers {
public:
  using Time = std::chrono::steady_clock::time_point;

  ServicePeer& operator[](ClientId client) { return x_peers[client]; }
  /// Null if it is not connected.
  const ServicePeer* find(ClientId client) const;
  void connect(ClientId client, const std::string& address) { x_peers[client] = {address}; }
  /// Removes a client. True if it was the last connection of rank 0's launcher.
  bool remove(ClientId client);

  void note_launcher(ClientId client);
  /// It is rank 0's launcher.
  void note_leader(ClientId client);
  /// Returns the number of clients that are not launchers.
  std::size_t programs() const { return x_peers.size() - x_launchers; }

  /// From now on programs of other nodes are counted: those that come neither from one of these addresses,
  /// this node's own, nor from the loopback.
  void count_elsewhere(std::vector<std::string> own_addresses) { x_own_addresses = std::move(own_addresses); }
  /// Notes a program of torch, which sends a message as soon as it has connected; a process that only checks
  /// the port does not.
  void note_program(ClientId client, Time now);
  /// True if programs of other nodes are connected, of which one has said something within `silence`.
  bool has_programs_elsewhere(Time now, std::chrono::hours silence) const {
    return x_elsewhere > 0 && now - x_last_elsewhere < silence;
  }

private:
  std::unordered_map<ClientId, ServicePeer> x_peers;
  std::size_t x_launchers = 0;
  std::size_t x_leaders = 0;                               ///< connections of rank 0's launcher
  std::optional<std::vector<std::string>> x_own_addresses; ///< none: programs of other nodes do not count
  std::size_t x_elsewhere = 0;                             ///< programs of other nodes
  Time x_last_elsewhere{};                                 ///< when one of these said something last
};

} // namespace hpcml::store
