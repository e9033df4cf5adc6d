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

/// The interface and address that this rank offers to the others.
/// `wanted` (may be empty) is an exact name; else the hint in `env`; else the way to MASTER_ADDR.
/// Throws std::runtime_error when a named interface is not there.
InterfaceAddress choose_interface(const RankEnv& env, const std::string& wanted);

/// Empty when a TCP connection to host:port could be made before the deadline, else the reason of the last
/// failure.
std::string wait_until_reachable(const std::string& host, int port,
                                 std::chrono::steady_clock::time_point deadline);

/// The name of this node.
std::string host_name();

} // namespace hpcml::ddp
