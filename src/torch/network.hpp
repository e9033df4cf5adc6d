// SPDX-License-Identifier: MIT
// Interfaces, addresses and sockets of this process, as the kernel reports them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "hpcml/rank_env.hpp"

namespace hpcml::helper {

/// One IPv4 address of an interface that is up.
struct InterfaceAddress {
  std::string interface;
  std::string address;
  bool loopback = false;
};
/// All IPv4 addresses of interfaces that are up.
std::vector<InterfaceAddress> interface_addresses();

/// The interface and address that this rank offers to the others.
/// `wanted` (may be empty) is an exact name; else the hint in `env`; else the way to MASTER_ADDR.
/// Throws std::runtime_error when a named interface is not there.
InterfaceAddress choose_interface(const RankEnv& env, const std::string& wanted);

/// Empty when a TCP connection to host:port could be made before the deadline, else the reason of the last
/// failure.
std::string wait_until_reachable(const std::string& host, int port,
                                 std::chrono::steady_clock::time_point deadline);

/// An established TCP connection of this process, both ends as "address:port".
struct OwnConnection {
  std::string local;
  std::string remote;
  std::string interface; ///< the one that has the local address; empty if none has
};
/// Established connections of this process, without those to or from `ignored_port` (the store's). From
/// /proc.
std::vector<OwnConnection> own_connections(int ignored_port);

/// The name of this node.
std::string host_name();

} // namespace hpcml::helper
