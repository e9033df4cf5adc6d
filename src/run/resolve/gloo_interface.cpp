// SPDX-License-Identifier: MIT
#include "run/resolve/gloo_interface.hpp"

#include "run/resolve/interfaces.hpp"

namespace hpcml::launch {

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
