// SPDX-License-Identifier: MIT
// Reads /proc/self/net/tcp{,6}: which addresses the sockets of this process really use.
#include "hpcml/ddp/own_connections.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <unistd.h>

#include "ddp/network.hpp"
#include "ddp/posix_files.hpp"

namespace hpcml::ddp {

namespace {

/// Inode numbers of the sockets this process has open.
std::set<std::string> own_inodes() {
  std::set<std::string> inodes;
  for (const auto& name : names_in("/proc/self/fd")) {
    char text[64];
    const auto length = ::readlink(("/proc/self/fd/" + name).c_str(), text, sizeof text);
    const std::string target(text, length < 0 ? 0 : static_cast<std::size_t>(length));
    if (target.compare(0, 8, "socket:[") == 0) inodes.insert(target.substr(8, target.size() - 9));
  }
  return inodes;
}

struct End {
  std::string address;
  int port = 0;
};

/// "0100007F:1F90": 32-bit words in the machine's byte order, the port as a number.
End parse_end(const std::string& text) {
  End end;
  const auto colon = text.find(':');
  end.port = static_cast<int>(std::stoul(text.substr(colon + 1), nullptr, 16));
  unsigned words[4] = {0, 0, 0, 0};
  const std::size_t count = colon / 8;
  for (std::size_t i = 0; i < count && i < 4; ++i)
    words[i] = static_cast<unsigned>(std::stoul(text.substr(8 * i, 8), nullptr, 16));
  char shown[INET6_ADDRSTRLEN] = "";
  // An IPv4 connection through an IPv6 socket reads ::ffff:a.b.c.d; the interface knows it as a.b.c.d.
  const bool mapped = count == 4 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff);
  if (count == 1 || mapped)
    ::inet_ntop(AF_INET, &words[mapped ? 3 : 0], shown, sizeof shown);
  else
    ::inet_ntop(AF_INET6, words, shown, sizeof shown);
  end.address = shown;
  return end;
}

std::string interface_of(const std::string& address, const std::vector<InterfaceAddress>& all) {
  for (const auto& network : all)
    if (network.address == address) return network.interface;
  return {};
}

} // namespace

std::vector<OwnTcpConnection> own_connections(int ignored_port) {
  const auto inodes = own_inodes();
  const auto interfaces = interface_addresses();
  std::vector<OwnTcpConnection> list;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line); // the heading
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
      fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >> inode;
      constexpr const char* k_established = "01";
      if (state != k_established || inodes.count(inode) == 0) continue;
      const End local_end = parse_end(local), remote_end = parse_end(remote);
      if (local_end.port == ignored_port || remote_end.port == ignored_port) continue;
      list.push_back({local_end.address + ":" + std::to_string(local_end.port),
                      remote_end.address + ":" + std::to_string(remote_end.port),
                      interface_of(local_end.address, interfaces)});
    }
  }
  return list;
}

} // namespace hpcml::ddp
