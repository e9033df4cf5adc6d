// SPDX-License-Identifier: MIT
// Interfaces and addresses of this process, as the kernel reports them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "hpcml/rank_env.hpp"

namespace hpcml::ddp {

/// One IPv4 address of an interface that is up.
struct InterfaceAddress {
  std::string interface;
  std::string address;
  bool loopback = false;
};
/// All IPv4 addresses of interfaces that are up.
std::vector<InterfaceAddress> interface_addresses();

/// Returns the interface and address of this rank for the others: `wanted` (an exact name), or if it is empty
/// the hint in `env`, or else the route to MASTER_ADDR.
/// Throws std::runtime_error if a named interface does not exist.
InterfaceAddress choose_interface(const RankEnv& env, const std::string& wanted);

/// Empty when a TCP connection to host:port could be made before the deadline, else the reason of the last
/// failure.
std::string wait_until_reachable(const std::string& host, int port,
                                 std::chrono::steady_clock::time_point deadline);

/// The name of this node.
std::string host_name();

} // namespace hpcml::ddp
