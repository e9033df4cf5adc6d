// SPDX-License-Identifier: MIT
// The sockets that a store is met at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "util/result.hpp"

namespace hpcml::store {

/// An address and a port as the kernel takes them.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t length = 0;
};

/// Of a numeric IPv4 or IPv6 address; nothing where it is none. Pure.
std::optional<SocketAddress> parse_address(const std::string& text, std::uint16_t port);

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
