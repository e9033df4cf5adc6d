// SPDX-License-Identifier: MIT
// The sockets of a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::store {

/// An address and a port for the kernel.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t length = 0;
};

/// Parses a numeric IPv4 or IPv6 address; returns nothing for other texts. Pure.
std::optional<SocketAddress> parse_address(const std::string& text, std::uint16_t port);

/// Detects lost nodes: a connection to one ends after half a minute instead of the kernel's two hours.
/// `where_it_owes`: also if data is unacknowledged; then a peer that reads nothing for this time is dropped
/// as well.
void watch_for_death(int fd, bool where_it_owes = false);

/// Returns a non-blocking socket that is bound to `address` with SO_REUSEADDR and closed on exec; -1 and
/// errno on failure. Without `only_six`, "::" includes IPv4.
int open_bound(const SocketAddress& address, bool only_six);

/// Returns a socket that is bound to `port` at all addresses of this node and does not listen. An error if a
/// process listens at one of them.
util::Result<int> bind_everywhere(std::uint16_t port);

/// Listening sockets, all with one port.
struct ListeningSockets {
  std::vector<int> sockets;
  std::uint16_t port = 0;
};

/// Listens on `port` at each of the numeric `addresses` (IPv4 or IPv6), or at all addresses of this node if
/// there are none; 0 lets the kernel choose. The sockets are closed on exec. The error names the address and
/// a port that is in use.
util::Result<ListeningSockets> listen_at(const std::vector<std::string>& addresses, std::uint16_t port);

/// The same on the first of the ports that is free; the error is about the last.
util::Result<ListeningSockets> listen_at_first(const std::vector<std::string>& addresses,
                                               const std::vector<std::uint16_t>& ports);

} // namespace hpcml::store
