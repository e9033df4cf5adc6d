// SPDX-License-Identifier: MIT
// A port that is kept for a program, in networks of this test's own.
#include <catch2/catch.hpp>

#include <atomic>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "run/store/listen.hpp"
#include "run/store/reserved_port.hpp"
#include "skip.hpp"

using namespace hpcml;

namespace {

/// A network of its own whose programs are given 8 ports only; false where this machine does not allow that.
bool enter_small_network() {
  static const bool k_may = ::unshare(CLONE_NEWUSER) == 0; // once: our number has no name in there
  if (!k_may || ::unshare(CLONE_NEWNET) != 0) return false;
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool up = ::ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  ::close(fd);
  const int file = ::open("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY | O_CLOEXEC);
  const bool written = file >= 0 && ::write(file, "40000 40007", 11) == 11;
  if (file >= 0) ::close(file);
  return up && written;
}

int bound_socket(std::uint16_t port, bool reuse) {
  const auto any = store::parse_address("0.0.0.0", port);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = reuse ? 1 : 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&any->bytes), any->length) == 0) return fd;
  ::close(fd);
  return -1;
}

/// Takes what the kernel gives until it gives no more; true if the kept port was among it.
bool grab_all(std::uint16_t kept) {
  std::vector<int> grabbed;
  bool got = false;
  for (int i = 0; i < 16; ++i) {
    const int fd = bound_socket(0, i % 2 == 0);
    if (fd < 0) continue;
    sockaddr_in place{};
    socklen_t length = sizeof place;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&place), &length);
    got = got || ntohs(place.sin_port) == kept;
    grabbed.push_back(fd);
  }
  for (const int fd : grabbed) ::close(fd);
  return got;
}

/// 0: kept in every round; 77: not allowed here; else what went wrong. What stays of connections uses the few
/// ports up: now and then another network.
int keep_and_grab(int rounds) {
  constexpr int k_rounds_of_network = 25;
  for (int round = 0; round < rounds; round += k_rounds_of_network) {
    if (!enter_small_network()) return 77;
    const auto port = static_cast<std::uint16_t>(40000 + round / k_rounds_of_network % 8);
    if (!store::keep_port(port)) return 1;
    for (int grab = 0; grab < k_rounds_of_network; ++grab)
      if (grab_all(port)) return 2;
    const int program = bound_socket(port, true);
    if (program < 0 || ::listen(program, 5) != 0) return 3;
    if (store::keep_port(port)) return 4; // somebody has it
    ::close(program);
  }
  return 0;
}

/// 0: nobody was taken in by the ports that were kept meanwhile; 77: not allowed here; else what went wrong.
int keep_while_others_ask() {
  if (!enter_small_network()) return 77; // with nobody else's listeners
  std::atomic<int> taken{0}, refused{0};
  std::atomic<bool> over{false};
  constexpr std::uint16_t k_first = 29000, k_ports = 200;
  std::atomic<std::uint16_t> requested{k_first};
  std::thread others([&] {
    while (!over) {
      const auto to = store::parse_address("127.0.0.1", requested);
      const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      ++(::connect(fd, reinterpret_cast<const sockaddr*>(&to->bytes), to->length) == 0 ? taken : refused);
      ::close(fd);
    }
  });
  int kept = 0;
  for (std::uint16_t i = 0; i < k_ports; ++i) {
    requested = static_cast<std::uint16_t>(k_first + i);
    // Somebody asks at this very port, also where that thread seldom has a processor.
    for (const int before = taken + refused; taken + refused < before + 2;) std::this_thread::yield();
    kept += store::keep_port(requested) ? 1 : 0;
  }
  over = true;
  others.join();
  if (taken > 0 || refused < k_ports) return taken > 0 ? 1 : 3;
  return kept == k_ports ? 0 : 2;
}

/// Networks of one's own are a child's, and it says how it went: 77 where this machine allows none.
void check_in_child(int (*run)()) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77)
    test::skip("this machine allows no network namespaces");
  else
    CHECK(WEXITSTATUS(status) == 0);
}

} // namespace

TEST_CASE("in 1,000 rounds nobody is given a kept port, and a program that reuses addresses can open it") {
  check_in_child([] { return keep_and_grab(1000); });
}

TEST_CASE("a port is kept without a listener that others, who ask there already, could be taken by") {
  check_in_child(keep_while_others_ask);
}

TEST_CASE(
    "a peer that acknowledges nothing is given up when one that is silent is, where that is asked for") {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0);
  const auto number = [fd](int option) {
    int value = -1;
    socklen_t length = sizeof value;
    ::getsockopt(fd, IPPROTO_TCP, option, &value, &length);
    return value;
  };
  store::watch_for_death(fd);
  CHECK(number(TCP_USER_TIMEOUT) == 0);
  store::watch_for_death(fd, true);
  CHECK(number(TCP_USER_TIMEOUT) ==
        1000 * (number(TCP_KEEPIDLE) + number(TCP_KEEPINTVL) * number(TCP_KEEPCNT)));
  ::close(fd);
}
