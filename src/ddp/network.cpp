// SPDX-License-Identifier: MIT
#include "ddp/network.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "ddp/format_message.hpp"

namespace hpcml::ddp {

namespace {

std::string address_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  return text;
}

/// The first name in a list as NCCL and Gloo write it: "hsn0,hsn1", "=eth0"; "^docker" excludes and names
/// nothing.
std::string first_name(const std::string& hint, bool& exact) {
  if (hint.empty() || hint.front() == '^') return {};
  exact = hint.front() == '=';
  const std::string list = exact ? hint.substr(1) : hint;
  const std::string name = list.substr(0, list.find(','));
  return name.substr(0, name.find(':'));
}

std::string list_of(const std::vector<InterfaceAddress>& all) {
  std::string text;
  for (const auto& network : all)
    text += format_message("{}{} ({})", text.empty() ? "" : ", ", network.interface, network.address);
  return text.empty() ? "none" : text;
}

struct Resolved {
  addrinfo* list = nullptr;
  ~Resolved() {
    if (list != nullptr) ::freeaddrinfo(list);
  }
};

/// The address from which the kernel would send to host; empty if it can't say. A UDP connect sends nothing.
std::string source_address_to(const std::string& host, int port) {
  addrinfo choice{};
  choice.ai_family = AF_INET;
  choice.ai_socktype = SOCK_DGRAM;
  Resolved found;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &choice, &found.list) != 0) return {};
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  sockaddr_in own{};
  socklen_t length = sizeof own;
  std::string text;
  if (::connect(fd, found.list->ai_addr, found.list->ai_addrlen) == 0 &&
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) == 0)
    text = address_text(reinterpret_cast<sockaddr*>(&own));
  ::close(fd);
  return text;
}

/// Empty on success, else why not.
std::string try_connect(const addrinfo& target, std::chrono::milliseconds limit) {
  const int fd = ::socket(target.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return std::strerror(errno);
  int error = ::connect(fd, target.ai_addr, target.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd wait{fd, POLLOUT, 0};
    socklen_t length = sizeof error;
    if (::poll(&wait, 1, static_cast<int>(limit.count())) <= 0)
      error = ETIMEDOUT;
    else
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  }
  ::close(fd);
  return error == 0 ? "" : std::strerror(error);
}

} // namespace

std::vector<InterfaceAddress> interface_addresses() {
  std::vector<InterfaceAddress> all;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return all;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next)
    if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET &&
        (entry->ifa_flags & IFF_UP) != 0)
      all.push_back({entry->ifa_name, address_text(entry->ifa_addr), (entry->ifa_flags & IFF_LOOPBACK) != 0});
  ::freeifaddrs(list);
  return all;
}

InterfaceAddress choose_interface(const RankEnv& env, const std::string& wanted) {
  const auto all = interface_addresses();
  bool exact = true;
  const std::string named = first_name(wanted.empty() ? env.interface_hint : wanted, exact);
  const bool prefix = wanted.empty() && env.interface_is_prefix && !exact;
  if (!named.empty()) {
    for (const auto& network : all)
      if (network.interface == named) return network;
    for (const auto& network : all)
      if (prefix && network.interface.compare(0, named.size(), named) == 0) return network;
    throw std::runtime_error(
        format_message("no interface '{}' with an IPv4 address is up on {} (available: {}); set "
                       "--interface, GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME",
                       named, host_name(), list_of(all)));
  }
  const std::string source = source_address_to(env.master_addr, env.master_port);
  const bool several_nodes = env.world_size > env.local_world_size;
  // On the first node MASTER_ADDR often resolves to 127.0.1.1, which the other nodes could not reach.
  for (const auto& network : all)
    if (network.address == source && !(several_nodes && network.loopback)) return network;
  for (const auto& network : all)
    if (network.loopback != several_nodes) return network;
  if (!all.empty()) return all.front();
  throw std::runtime_error(format_message(
      "no interface with an IPv4 address is up on {}, so the ranks cannot connect; check `ip -4 address`",
      host_name()));
}

std::string wait_until_reachable(const std::string& host, int port,
                                 std::chrono::steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  std::string reason;
  do {
    addrinfo choice{};
    choice.ai_socktype = SOCK_STREAM;
    Resolved found;
    const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &choice, &found.list);
    if (code != 0) reason = format_message("the name does not resolve ({})", ::gai_strerror(code));
    for (const addrinfo* entry = found.list; entry != nullptr; entry = entry->ai_next) {
      const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
      reason = try_connect(*entry, std::clamp(left, milliseconds(1), milliseconds(2000)));
      if (reason.empty()) return {};
    }
    std::this_thread::sleep_for(milliseconds(20));
  } while (std::chrono::steady_clock::now() < deadline);
  return reason;
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

} // namespace hpcml::ddp
