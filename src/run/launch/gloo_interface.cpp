// SPDX-License-Identifier: MIT
#include "run/launch/gloo_interface.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/util/host_names.hpp"
#include "run/launch/interfaces.hpp"

namespace hpcml::launch {

namespace {

constexpr const char* k_discard_port = "9"; ///< nothing is sent there

socklen_t length_of(const sockaddr* address) {
  if (address == nullptr) return 0;
  return address->sa_family == AF_INET    ? sizeof(sockaddr_in)
         : address->sa_family == AF_INET6 ? sizeof(sockaddr_in6)
                                          : 0;
}

/// The address as a number, without a link's name after it.
std::string number_of(const sockaddr* address, socklen_t length) {
  char text[NI_MAXHOST] = "";
  if (length == 0 || ::getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  const std::string number = text;
  return number.substr(0, number.find('%'));
}

/// Connecting a datagram socket sends nothing; the kernel chooses the route and its address.
std::string source_to(const addrinfo& target) {
  const int fd = ::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  std::string text;
  if (::connect(fd, target.ai_addr, target.ai_addrlen) == 0 &&
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) == 0)
    text = number_of(reinterpret_cast<sockaddr*>(&own), length);
  ::close(fd);
  return text;
}

std::string source_to(const std::string& host) {
  addrinfo wanted{}, *list = nullptr;
  wanted.ai_socktype = SOCK_DGRAM;
  if (::getaddrinfo(host.c_str(), k_discard_port, &wanted, &list) != 0) return {};
  std::string text;
  for (const addrinfo* entry = list; entry != nullptr && text.empty(); entry = entry->ai_next)
    text = source_to(*entry);
  ::freeaddrinfo(list);
  return text;
}

} // namespace

NetworkView read_network(const std::vector<std::string>& hosts) {
  NetworkView network;
  ifaddrs* list = nullptr;
  if (hosts.empty() || ::getifaddrs(&list) != 0) return network;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next)
    if (const auto text = number_of(entry->ifa_addr, length_of(entry->ifa_addr));
        !text.empty() && (entry->ifa_flags & IFF_UP) != 0)
      network.addresses.push_back({entry->ifa_name, text, (entry->ifa_flags & IFF_LOOPBACK) != 0});
  ::freeifaddrs(list);
  for (const auto& host : hosts) {
    const auto source = source_to(host);
    if (source.empty() || util::is_loopback_address(source)) continue;
    network.source = source;
    break;
  }
  return network;
}

std::string choose_gloo_interface(const NetworkView& network, const std::string& nccl_interfaces) {
  if (!nccl_interfaces.empty() && !nccl_interfaces.starts_with("^"))
    for (const auto& address : network.addresses)
      if (!present_interfaces("NCCL_SOCKET_IFNAME", nccl_interfaces, {address.interface}).empty())
        return address.interface;
  for (const auto& address : network.addresses)
    if (!network.source.empty() && address.address == network.source && !address.loopback)
      return address.interface;
  return {};
}

} // namespace hpcml::launch
