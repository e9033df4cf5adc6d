// SPDX-License-Identifier: MIT
#include "store/kept_port.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/listen.hpp"

namespace hpcml::store {

namespace {

constexpr int k_patience_ms = 1000; ///< for packets within this machine

bool readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, k_patience_ms) == 1;
}

/// Connects to a socket that listens here and ends the connection from its side: the port's end of it stays.
bool leave_connection(const std::string& address, std::uint16_t port, const std::vector<int>& listening) {
  const auto to = parse_address(address, port);
  if (!to) return false;
  const int near = ::socket(to->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (near < 0) return false;
  const bool begun =
      ::connect(near, reinterpret_cast<const sockaddr*>(&to->bytes), to->length) == 0 || errno == EINPROGRESS;
  int far = -1;
  for (const int fd : listening)
    if (begun && far < 0 && readable(fd)) far = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
  bool left = false;
  if (far >= 0) {
    ::close(far); // who ends first waits
    char none;
    left = readable(near) && ::recv(near, &none, 1, 0) == 0;
  }
  ::close(near);
  return left;
}

} // namespace

util::Status keep_port(std::uint16_t port, const std::vector<std::string>& addresses) {
  TRY(auto listening, listen_at({}, port));
  bool kept = false;
  for (const auto& address : addresses)
    kept = leave_connection(address, listening.port, listening.sockets) || kept;
  for (const int fd : listening.sockets) ::close(fd);
  if (kept) return util::Done{};
  return util::Error{"port " + std::to_string(port) +
                     " cannot be kept: nobody at this node's addresses answers"};
}

} // namespace hpcml::store
