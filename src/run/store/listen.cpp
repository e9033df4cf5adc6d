// SPDX-License-Identifier: MIT
#include "run/store/listen.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hpcml::store {

namespace {

std::uint16_t port_of(int fd) {
  sockaddr_storage bytes{};
  socklen_t length = sizeof bytes;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bytes), &length) != 0) return 0;
  if (bytes.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in*>(&bytes)->sin_port);
  return ntohs(reinterpret_cast<sockaddr_in6*>(&bytes)->sin6_port);
}

util::Error refused(const std::string& address, std::uint16_t port) {
  const int error = errno;
  util::Error failure{fmt::format("the rendezvous store cannot listen at {}, port {}: {}",
                                  address.empty() ? "any address" : address, port, std::strerror(error))};
  if (error == EADDRINUSE)
    failure.hint = "use another port, or 0 for a free one: another program uses this port";
  if (error == EADDRNOTAVAIL) failure.hint = "use an address of this node's interfaces";
  return failure;
}

constexpr const char* k_any_address[] = {"::", "0.0.0.0"}; ///< a node without IPv6 has only the second

} // namespace

void watch_for_death(int fd, bool where_it_owes) {
  const int yes = 1, idle = 15, interval = 5, count = 3;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  // No probe is sent while something waits to be acknowledged: that alone would be tried for a quarter of an
  // hour.
  const unsigned milliseconds = 1000 * (idle + interval * count);
  if (where_it_owes) ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

std::optional<SocketAddress> parse_address(const std::string& text, std::uint16_t port) {
  SocketAddress address;
  auto* four = reinterpret_cast<sockaddr_in*>(&address.bytes);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  if (::inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    address.length = sizeof *four;
    return address;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) != 1) return std::nullopt;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(port);
  address.length = sizeof *six;
  return address;
}

int open_bound(const SocketAddress& address, bool only_six) {
  const int fd = ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int yes = 1, six = only_six ? 1 : 0;
  // A restart inside the minute that old connections linger for must get its port again.
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address.bytes.ss_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &six, sizeof six);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address.bytes), address.length) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

util::Result<int> bind_everywhere(std::uint16_t port) {
  for (const char* any : k_any_address) {
    if (const int fd = open_bound(*parse_address(any, port), false); fd >= 0) return fd;
    if (errno == EADDRINUSE) break;
  }
  return refused({}, port);
}

namespace {

int listen_on(const SocketAddress& address, bool only_six) {
  const int fd = open_bound(address, only_six);
  if (fd < 0 || ::listen(fd, std::numeric_limits<int>::max()) == 0)
    return fd; // the kernel takes what it allows
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

util::Result<ListeningSockets> listen_once(const std::vector<std::string>& addresses, std::uint16_t port) {
  ListeningSockets result;
  result.port = port;
  const auto fail = [&](util::Error error) {
    const int why = errno;
    for (const int fd : result.sockets) ::close(fd);
    errno = why;
    return error;
  };
  if (addresses.empty()) {
    for (const char* any : k_any_address) {
      if (const int fd = listen_on(*parse_address(any, port), false); fd >= 0) {
        result.sockets.push_back(fd);
        result.port = port_of(fd);
        return result;
      }
      if (errno == EADDRINUSE) break;
    }
    return fail(refused({}, port));
  }
  for (const std::string& text : addresses) {
    const auto address = parse_address(text, result.port);
    if (!address)
      return fail(util::Error{fmt::format("cannot listen at '{}': it is not a numeric address", text),
                              "use an IPv4 or IPv6 address of this node, not a name"});
    const int fd = listen_on(*address, true);
    if (fd < 0) return fail(refused(text, result.port));
    result.sockets.push_back(fd);
    result.port = port_of(fd);
  }
  return result;
}

} // namespace

util::Result<ListeningSockets> listen_at(const std::vector<std::string>& addresses, std::uint16_t port) {
  // The port that the kernel chooses for the first address may be in use at the second one, and two
  // processes may choose the same.
  constexpr int k_choices = 50;
  for (int choice = 1; port == 0 && choice < k_choices; ++choice) {
    auto listening = listen_once(addresses, port);
    if (listening || errno != EADDRINUSE) return listening;
  }
  return listen_once(addresses, port);
}

util::Result<ListeningSockets> listen_at_first(const std::vector<std::string>& addresses,
                                               const std::vector<std::uint16_t>& ports) {
  util::Result<ListeningSockets> listening =
      util::Error{"no port was given for the rendezvous store", "set --port or --master-port"};
  for (const auto port : ports)
    if (listening = listen_at(addresses, port); listening) break;
  return listening;
}

} // namespace hpcml::store
