// SPDX-License-Identifier: MIT
// The sockets that a store is met at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "util/result.hpp"

namespace hpcml::store {

/// Listening sockets, all with one port.
struct Listening {
  std::vector<int> sockets;
  std::uint16_t port = 0;
};

/// Listens at each of the numeric `addresses` (IPv4 or IPv6), or where there is none at all of this node's,
/// on `port`; 0 lets the kernel choose. The sockets are closed in programs that are executed. An error names
/// the address, and a port that somebody else has.
util::Result<Listening> listen_at(const std::vector<std::string>& addresses, std::uint16_t port);

} // namespace hpcml::store
