// SPDX-License-Identifier: MIT
#include "launch/rendezvous.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

#include "util/host_names.hpp"
#include "util/text.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

unsigned step_port(const slurm::StepIdentity& identity) {
  constexpr unsigned long long k_count = plan::k_port_count;
  const auto offset = (identity.job % k_count) * plan::k_job_stride +
                      (identity.restart % k_count) * plan::k_restart_stride + identity.step % k_count;
  return plan::k_first_port + static_cast<unsigned>(offset % k_count);
}

std::string step_address(const util::EnvSnapshot& env, const std::string& first_node,
                         const std::string& suffix) {
  const auto address = env.get_or("HPCML_MASTER_ADDR", "");
  if (!address.empty() && env.get_or("HPCML_MASTER_NODE", "") == first_node) return address;
  return first_node + suffix;
}

Result<std::string> interface_address(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    return Error{std::string("cannot list the network interfaces: ") + std::strerror(errno)};
  std::string address;
  std::vector<std::string> names;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET ||
        (entry->ifa_flags & IFF_UP) == 0)
      continue;
    names.emplace_back(entry->ifa_name);
    if (interface != entry->ifa_name || !address.empty()) continue;
    sockaddr_in place{};
    std::memcpy(&place, entry->ifa_addr, sizeof place);
    char text[INET_ADDRSTRLEN] = "";
    ::inet_ntop(AF_INET, &place.sin_addr, text, sizeof text);
    address = text;
  }
  ::freeifaddrs(list);
  if (!address.empty()) return address;
  return Error{"this node has no interface '" + interface + "' that is up and has an IPv4 address",
               "interfaces here: " + (names.empty() ? "none" : util::join(names, ", "))};
}

namespace {

bool is_number(const std::string& address) {
  unsigned char bytes[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, address.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), bytes) == 1;
}

std::set<std::string> addresses_of(const std::string& name) {
  std::set<std::string> found;
  addrinfo wanted{}, *list = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(name.c_str(), nullptr, &wanted, &list) != 0) return found;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    char text[NI_MAXHOST] = "";
    if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      found.insert(text);
  }
  ::freeaddrinfo(list);
  return found;
}

std::set<std::string> local_addresses() {
  std::set<std::string> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const int family = entry->ifa_addr->sa_family;
    const socklen_t length = family == AF_INET    ? sizeof(sockaddr_in)
                             : family == AF_INET6 ? sizeof(sockaddr_in6)
                                                  : 0;
    char text[NI_MAXHOST] = "";
    if (length > 0 &&
        ::getnameinfo(entry->ifa_addr, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      found.insert(text);
  }
  ::freeifaddrs(list);
  return found;
}

} // namespace

bool may_be_host(const std::string& address, const std::string& node, bool is_here) {
  if (is_number(address)) return !is_here || local_addresses().count(address) > 0;
  if (util::short_host_name(address) == util::short_host_name(node)) return true;
  const auto mine = addresses_of(address);
  for (const auto& other : addresses_of(node))
    if (mine.count(other) > 0) return true;
  return false;
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
  if (!found) return Error{std::string("cannot find a free port on 127.0.0.1: ") + std::strerror(code)};
  return static_cast<unsigned>(ntohs(place.sin_port));
}

} // namespace hpcml::launch
