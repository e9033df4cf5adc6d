// SPDX-License-Identifier: MIT
#include "run/launch/rendezvous.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <utility>

#include "core/util/host_names.hpp"
#include "core/util/scoped_descriptor.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

namespace {

bool is_number(const std::string& address) {
  unsigned char bytes[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, address.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), bytes) == 1;
}

constexpr const char* k_discard_port = "9"; ///< nothing is sent there

/// The address as a number, with the interface of one that only its link knows: "fe80::1%eth0". Empty for
/// other families than IPv4 and IPv6.
std::string number_of(const sockaddr* address) {
  const int family = address != nullptr ? address->sa_family : AF_UNSPEC;
  const socklen_t length = family == AF_INET    ? sizeof(sockaddr_in)
                           : family == AF_INET6 ? sizeof(sockaddr_in6)
                                                : 0;
  char text[NI_MAXHOST] = "";
  if (length == 0 || ::getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  return text;
}

bool is_of_link(const std::string& number) { return number.find('%') != std::string::npos; }
std::string without_link(const std::string& number) { return number.substr(0, number.find('%')); }

struct InterfaceAddress {
  std::string interface;
  std::string number;
  unsigned flags = 0; ///< IFF_UP and others
};

/// Returns the addresses of this node's interfaces; nothing, with errno, if the kernel does not list them.
std::optional<std::vector<InterfaceAddress>> interface_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::nullopt;
  std::vector<InterfaceAddress> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next)
    if (auto number = number_of(entry->ifa_addr); !number.empty())
      found.push_back({entry->ifa_name, std::move(number), entry->ifa_flags});
  ::freeifaddrs(list);
  return found;
}

/// Connecting a datagram socket sends nothing; the kernel chooses the route and its address.
std::string source_to(const addrinfo& target) {
  const util::ScopedDescriptor fd(::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  auto* address = reinterpret_cast<sockaddr*>(&own);
  socklen_t length = sizeof own;
  const bool found = fd.get() >= 0 && ::connect(fd.get(), target.ai_addr, target.ai_addrlen) == 0 &&
                     ::getsockname(fd.get(), address, &length) == 0;
  return found ? without_link(number_of(address)) : std::string();
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

Result<std::string> interface_address(const std::string& interface) {
  const auto addresses = interface_addresses();
  if (!addresses)
    return Error{fmt::format("cannot list the network interfaces of this node: {}", std::strerror(errno)),
                 "run `ip address` on this node, and report the error to the site's administrators"};
  std::string four, six;
  std::vector<std::string> names;
  for (const auto& [name, number, flags] : *addresses) {
    if ((flags & IFF_UP) == 0 || is_of_link(number)) continue;
    util::add_once(names, name);
    auto& address = number.find(':') == std::string::npos ? four : six;
    if (interface == name && address.empty()) address = number;
  }
  if (!four.empty()) return four;
  if (!six.empty()) return six;
  return Error{
      fmt::format("this node has no interface '{}' that is up and has an address", interface),
      fmt::format("use one of the node's interfaces: {}", names.empty() ? "none" : util::join(names, ", "))};
}

std::vector<std::string> addresses_of(const std::string& name) {
  if (is_number(name)) return {name};
  std::vector<std::string> found;
  addrinfo wanted{}, *list = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(name.c_str(), nullptr, &wanted, &list) != 0) return found;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next)
    if (const auto number = number_of(entry->ai_addr); !number.empty() && !is_of_link(number))
      util::add_once(found, number);
  ::freeaddrinfo(list);
  return found;
}

std::vector<std::string> local_addresses() {
  std::vector<std::string> found;
  for (const auto& address : interface_addresses().value_or(std::vector<InterfaceAddress>()))
    if (!is_of_link(address.number)) util::add_once(found, address.number);
  return found;
}

NetworkView read_network(const std::vector<std::string>& hosts) {
  NetworkView network;
  const auto addresses = hosts.empty() ? std::nullopt : interface_addresses();
  if (!addresses) return network;
  for (const auto& [name, number, flags] : *addresses)
    if ((flags & IFF_UP) != 0)
      network.addresses.push_back({name, without_link(number), (flags & IFF_LOOPBACK) != 0});
  for (const auto& host : hosts) {
    const auto source = source_to(host);
    if (source.empty() || util::is_loopback_address(source)) continue;
    network.source = source;
    break;
  }
  return network;
}

std::vector<std::string> serving_addresses(const std::vector<std::string>& names,
                                           const std::vector<std::string>& own, const Resolver& resolve) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty())
      for (const auto& address : resolve(names[i]))
        // All of 127.0.0.0/8 is here, whatever the list says.
        if (util::contains(own, address) || util::is_loopback_address(address))
          util::add_once(found, address);
    // A node's own file of hosts may give its name an address of the loopback; the other nodes know another.
    const bool is_meant = is_number(names[i]) || util::is_loopback_address(names[i]);
    if (i == 0 &&
        (is_meant ? found.empty() : std::all_of(found.begin(), found.end(), util::is_loopback_address)))
      return {};
  }
  return found;
}

std::vector<std::string> serving_addresses(const std::vector<std::string>& names) {
  return serving_addresses(names, local_addresses(), addresses_of);
}

bool may_be_host(const std::string& address, const std::string& node, bool is_here) {
  if (is_number(address)) {
    if (!is_here) return true;
    return util::contains(local_addresses(), address);
  }
  if (util::short_host_name(address) == util::short_host_name(node)) return true;
  const auto mine = addresses_of(address);
  const auto theirs = addresses_of(node);
  return std::any_of(theirs.begin(), theirs.end(),
                     [&](const std::string& host) { return util::contains(mine, host); });
}

Result<unsigned> free_loopback_port() {
  const util::ScopedDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  if (fd.get() < 0 || ::bind(fd.get(), address, length) != 0 ||
      ::getsockname(fd.get(), address, &length) != 0)
    return Error{fmt::format("cannot find a free port on 127.0.0.1: {}", std::strerror(errno)),
                 "set MASTER_PORT to a port that is free on this node"};
  return static_cast<unsigned>(ntohs(place.sin_port));
}

} // namespace hpcml::launch
