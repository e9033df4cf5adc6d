// SPDX-License-Identifier: MIT
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ddp/format_message.hpp"
#include "ddp/network.hpp"
#include "torch/helper/group_rendezvous.hpp"
#include "torch/helper/preflight.hpp"

namespace hpcml::helper {

namespace {

/// A socket that listens as torch's store does: on all addresses, IPv4 and IPv6 alike.
class Listener {
public:
  ~Listener() { close(); }

  /// Empty, or why it cannot.
  std::string open(int port) {
    const int families[] = {AF_INET6, AF_INET};
    int error = 0;
    for (const int family : families) {
      error = try_open(family, port);
      if (error != EAFNOSUPPORT && error != EADDRNOTAVAIL) break; // a node without IPv6
    }
    return error == 0 ? "" : std::strerror(error);
  }
  void close() {
    if (x_fd >= 0) ::close(x_fd);
    x_fd = -1;
  }

private:
  int try_open(int family, int port) {
    x_fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (x_fd < 0) return errno;
    const int on = 1, off = 0;
    ::setsockopt(x_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6) ::setsockopt(x_fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    six.sin6_addr = in6addr_any;
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = six.sin6_port;
    const bool v6 = family == AF_INET6;
    const auto* place =
        v6 ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
    if (::bind(x_fd, place, v6 ? sizeof six : sizeof four) == 0 && ::listen(x_fd, SOMAXCONN) == 0) return 0;
    const int error = errno;
    close();
    return error;
  }

  int x_fd = -1;
};

} // namespace

void check_program_port(PhaseBarrier& rendezvous, const RankEnv& env, int port,
                        std::chrono::milliseconds timeout) {
  const auto endpoint =
      ddp::format_message("the rendezvous endpoint {}:{} (MASTER_PORT)", env.master_addr, port);
  Listener listener;
  rendezvous.enter("listen");
  std::string reason = env.rank == 0 ? listener.open(port) : "";
  if (!reason.empty())
    reason = ddp::format_message("{} cannot be used by rank 0: {}; another program on {} may use the port",
                                 endpoint, reason, ddp::host_name());
  rendezvous.conclude("listen", LocalPhaseResult{reason, true});
  rendezvous.enter("reach");
  if (env.rank != 0) {
    reason = ddp::wait_until_reachable(env.master_addr, port, std::chrono::steady_clock::now() + timeout);
    if (!reason.empty())
      reason = ddp::format_message("{} cannot be reached from {}: {}", endpoint, ddp::host_name(), reason);
  }
  rendezvous.conclude("reach", LocalPhaseResult{reason, true});
}

} // namespace hpcml::helper
