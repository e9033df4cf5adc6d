// SPDX-License-Identifier: MIT
#include "run/store/reserved_port.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/store/listen.hpp"

namespace hpcml::store {

namespace {

constexpr int k_timeout_ms = 1000; ///< for packets within this machine

/// Connects a socket to itself and closes the connection, whose TIME_WAIT state keeps the port. No socket
/// listens meanwhile, so that no early rank is accepted and then dropped.
bool leave_connection(const std::string& address, std::uint16_t port) {
  const auto own = parse_address(address, port);
  if (!own) return false;
  const auto* name = reinterpret_cast<const sockaddr*>(&own->bytes);
  const int fd = open_bound(*own, true);
  if (fd < 0) return false;
  bool connected = ::connect(fd, name, own->length) == 0;
  if (!connected && errno == EINPROGRESS) {
    pollfd wait{fd, POLLOUT, 0};
    int error = 0;
    socklen_t length = sizeof error;
    connected = ::poll(&wait, 1, k_timeout_ms) == 1 &&
                ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
  }
  ::close(fd); // both ends: the kernel keeps the pair for a minute
  return connected;
}

} // namespace

util::Status keep_port(std::uint16_t port, const std::vector<std::string>& addresses) {
  TRY(const int whole, bind_everywhere(port)); // refused where anybody listens at any address
  bool kept = false;
  for (const auto& address : addresses) kept = leave_connection(address, port) || kept;
  ::close(whole);
  if (kept) return util::Success{};
  return util::Error{
      fmt::format("cannot reserve port {}: this node cannot reach itself at any of its addresses", port),
      "run `ip address` on this node, and report the node to the site's administrators"};
}

} // namespace hpcml::store
