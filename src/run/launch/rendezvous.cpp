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
#include <sys/socket.h>
#include <unistd.h>

#include "core/util/host_names.hpp"
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

/// The address as a number; empty where it has none, or one that only its link knows.
std::string number_of(const sockaddr* address, socklen_t length) {
  char text[NI_MAXHOST] = "";
  if (::getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return std::strchr(text, '%') == nullptr ? text : std::string();
}

} // namespace

Result<std::string> interface_address(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    return Error{fmt::format("cannot list the network interfaces: {}", std::strerror(errno))};
  std::string four, six;
  std::vector<std::string> names;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    const bool is_four = entry->ifa_addr->sa_family == AF_INET;
    if (!is_four && entry->ifa_addr->sa_family != AF_INET6) continue;
    const auto text = number_of(entry->ifa_addr, is_four ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    if (text.empty()) continue;
    if (std::find(names.begin(), names.end(), entry->ifa_name) == names.end())
      names.emplace_back(entry->ifa_name);
    auto& address = is_four ? four : six;
    if (interface == entry->ifa_name && address.empty()) address = text;
  }
  ::freeifaddrs(list);
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
    if (const auto text = number_of(entry->ai_addr, entry->ai_addrlen); !text.empty())
      util::add_once(found, text);
  ::freeaddrinfo(list);
  return found;
}

std::vector<std::string> local_addresses() {
  std::vector<std::string> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const int family = entry->ifa_addr->sa_family;
    const socklen_t length = family == AF_INET    ? sizeof(sockaddr_in)
                             : family == AF_INET6 ? sizeof(sockaddr_in6)
                                                  : 0;
    if (length == 0) continue;
    if (const auto text = number_of(entry->ifa_addr, length); !text.empty()) util::add_once(found, text);
  }
  ::freeifaddrs(list);
  return found;
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
    const auto mine = local_addresses();
    return std::find(mine.begin(), mine.end(), address) != mine.end();
  }
  if (util::short_host_name(address) == util::short_host_name(node)) return true;
  const auto mine = addresses_of(address);
  const auto theirs = addresses_of(node);
  return std::any_of(theirs.begin(), theirs.end(), [&](const std::string& host) {
    return std::find(mine.begin(), mine.end(), host) != mine.end();
  });
}

Result<unsigned> free_loopback_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof place;
  const bool found = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&place), sizeof place) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&place), &length) == 0;
  const int code = errno;
  if (fd >= 0) ::close(fd);
  if (!found) return Error{fmt::format("cannot find a free port on 127.0.0.1: {}", std::strerror(code))};
  return static_cast<unsigned>(ntohs(place.sin_port));
}

} // namespace hpcml::launch
