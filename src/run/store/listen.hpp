// SPDX-License-Identifier: MIT
// The sockets that a store is met at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::store {

/// An address and a port as the kernel takes them.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t length = 0;
};

/// Of a numeric IPv4 or IPv6 address; nothing where it is none. Pure.
std::optional<SocketAddress> parse_address(const std::string& text, std::uint16_t port);

/// A node that dies says nothing: a connection to it ends after half a minute, not after the kernel's two
/// hours. `where_it_owes`: also where something is on its way to it; then a peer that lives and reads nothing
/// for so long is given up, too.
void watch_for_death(int fd, bool where_it_owes = false);

/// A socket that is bound to `address` with SO_REUSEADDR, not blocking, closed in programs that are executed;
/// -1 and errno where that cannot be. Without `only_six`, "::" is IPv4's, too.
int open_bound(const SocketAddress& address, bool only_six);

/// A socket bound to `port` at all of this node's addresses, which listens at none. An error where somebody
/// listens at one of them.
util::Result<int> bind_everywhere(std::uint16_t port);

/// Listening sockets, all with one port.
struct Listening {
  std::vector<int> sockets;
  std::uint16_t port = 0;
};

/// Listens at each of the numeric `addresses` (IPv4 or IPv6), or where there is none at all of this node's,
/// on `port`; 0 lets the kernel choose. The sockets are closed in programs that are executed. An error names
/// the address, and a port that somebody else has.
util::Result<Listening> listen_at(const std::vector<std::string>& addresses, std::uint16_t port);

/// The same on the first of the ports that is free; the error is about the last.
util::Result<Listening> listen_at_first(const std::vector<std::string>& addresses,
                                        const std::vector<std::uint16_t>& ports);

} // namespace hpcml::store
