// SPDX-License-Identifier: MIT
// The network interface by which a node's ranks reach those of the other nodes: for Gloo, the preflight and
// hpcml::ddp alike.
#pragma once

#include <string>
#include <vector>

namespace hpcml::launch {

/// An address of an interface that is up.
struct NetworkInterfaceAddress {
  std::string interface;
  std::string address;
  bool loopback = false;
};

/// What the kernel reports about this node's way to others.
struct NetworkView {
  std::vector<NetworkInterfaceAddress> addresses;
  std::string source; ///< from which the kernel would send to them; empty if unknown
};

/// The interface that holds the source; one that `nccl_interfaces`, the value of NCCL_SOCKET_IFNAME, names
/// comes first. Empty where none is known. Without a name torch's Gloo uses the address of the node's own
/// name, which may be 127.0.1.1. Pure.
std::string choose_gloo_interface(const NetworkView& network, const std::string& nccl_interfaces);

} // namespace hpcml::launch
