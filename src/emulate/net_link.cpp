// SPDX-License-Identifier: MIT
#include "emulate/net_link.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace hpcml::emulate {

namespace {

/// A netlink message under construction.
class Message {
public:
  template <class Header> Message(unsigned short type, unsigned short flags, const Header& header) {
    nlmsghdr head{};
    head.nlmsg_type = type;
    head.nlmsg_flags = static_cast<unsigned short>(NLM_F_REQUEST | NLM_F_ACK | flags);
    append(&head, sizeof head);
    append(&header, sizeof header);
  }
  void append(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const char*>(data);
    x_bytes.insert(x_bytes.end(), bytes, bytes + size);
    x_bytes.resize(NLMSG_ALIGN(x_bytes.size()));
  }
  void attribute(unsigned short type, const void* data, std::size_t size) {
    const auto at = open(type);
    append(data, size);
    set_length(at, RTA_LENGTH(size));
  }
  void attribute(unsigned short type, const std::string& text) {
    attribute(type, text.c_str(), text.size() + 1);
  }
  std::size_t open(unsigned short type) {
    const auto at = x_bytes.size();
    const rtattr head{0, type};
    append(&head, sizeof head);
    return at;
  }
  void close(std::size_t at) { set_length(at, x_bytes.size() - at); }
  const std::vector<char>& finish() {
    const auto size = static_cast<std::uint32_t>(x_bytes.size());
    std::memcpy(x_bytes.data() + offsetof(nlmsghdr, nlmsg_len), &size, sizeof size);
    return x_bytes;
  }

private:
  void set_length(std::size_t at, std::size_t size) {
    const auto length = static_cast<unsigned short>(size);
    std::memcpy(x_bytes.data() + at + offsetof(rtattr, rta_len), &length, sizeof length);
  }
  std::vector<char> x_bytes;
};

util::Error failed(const std::string& what, int error) { return {what + ": " + std::strerror(error), {}}; }

util::Status send_message(Message& message, const std::string& what) {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return failed(what, errno);
  const auto& bytes = message.finish();
  alignas(nlmsghdr) char answer[8192];
  int error = 0;
  if (::send(fd, bytes.data(), bytes.size(), 0) < 0)
    error = errno;
  else if (::recv(fd, answer, sizeof answer, 0) < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr))))
    error = EPROTO;
  else
    error = -static_cast<nlmsgerr*>(NLMSG_DATA(reinterpret_cast<nlmsghdr*>(answer)))->error;
  ::close(fd);
  if (error != 0) return failed(what, error);
  return util::Success{};
}

util::Result<int> find_interface(const std::string& name) {
  const unsigned index = ::if_nametoindex(name.c_str());
  if (index == 0)
    return util::Error{
        fmt::format("the emulated cluster lacks its network interface {}: {}", name, std::strerror(errno)),
        "run hpcml emulate again, and report it as a bug in hpcml if it recurs"};
  return static_cast<int>(index);
}

} // namespace

util::Status create_bridge(const std::string& name) {
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  message.attribute(IFLA_IFNAME, name);
  const auto info = message.open(IFLA_LINKINFO);
  message.attribute(IFLA_INFO_KIND, "bridge");
  message.close(info);
  return send_message(message, fmt::format("cannot create the network {} of the emulated cluster", name));
}

util::Status create_cable(const std::string& own_end, const std::string& bridge, const std::string& peer_end,
                          pid_t peer) {
  TRY(const auto master, find_interface(bridge));
  ifinfomsg link{};
  link.ifi_flags = link.ifi_change = IFF_UP;
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, link);
  message.attribute(IFLA_IFNAME, own_end);
  message.attribute(IFLA_MASTER, &master, sizeof(int));
  const auto info = message.open(IFLA_LINKINFO);
  message.attribute(IFLA_INFO_KIND, "veth");
  const auto data = message.open(IFLA_INFO_DATA);
  const auto peer_nest = message.open(VETH_INFO_PEER);
  const ifinfomsg other_link{};
  message.append(&other_link, sizeof other_link);
  message.attribute(IFLA_IFNAME, peer_end);
  const auto pid = static_cast<std::uint32_t>(peer);
  message.attribute(IFLA_NET_NS_PID, &pid, sizeof pid);
  message.close(peer_nest);
  message.close(data);
  message.close(info);
  return send_message(message,
                      fmt::format("cannot create the network interface {} of an emulated node", peer_end));
}

util::Status add_address(const std::string& interface, const std::string& ipv4, unsigned prefix) {
  TRY(const auto index, find_interface(interface));
  in_addr address{};
  if (::inet_pton(AF_INET, ipv4.c_str(), &address) != 1 || prefix < 1 || prefix > 30)
    return util::Error{
        fmt::format("the address '{}/{}' of network interface {} of an emulated node is not valid", ipv4,
                    prefix, interface),
        "run hpcml emulate again, and report it as a bug in hpcml if it recurs"};
  const in_addr broadcast{address.s_addr | htonl((1u << (32 - prefix)) - 1)};
  ifaddrmsg head{};
  head.ifa_family = AF_INET;
  head.ifa_prefixlen = static_cast<unsigned char>(prefix);
  head.ifa_index = static_cast<unsigned>(index);
  Message message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, head);
  message.attribute(IFA_LOCAL, &address, sizeof address);
  message.attribute(IFA_ADDRESS, &address, sizeof address);
  message.attribute(IFA_BROADCAST, &broadcast, sizeof broadcast);
  return send_message(message,
                      fmt::format("cannot set the address of network interface {} to {}", interface, ipv4));
}

util::Status set_interface_up(const std::string& interface, bool on) {
  TRY(const auto index, find_interface(interface));
  ifinfomsg link{};
  link.ifi_index = index;
  link.ifi_change = IFF_UP;
  link.ifi_flags = on ? IFF_UP : 0;
  Message message(RTM_NEWLINK, 0, link);
  return send_message(message, on ? fmt::format("cannot bring up the network interface {}", interface)
                                  : fmt::format("cannot take down the network interface {}", interface));
}

} // namespace hpcml::emulate
