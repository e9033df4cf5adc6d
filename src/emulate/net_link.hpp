// SPDX-License-Identifier: MIT
// Network interfaces of the calling process's network namespace, over netlink (no `ip` program needed).
#pragma once

#include <string>

#include <sys/types.h>

#include "core/util/result.hpp"

namespace hpcml::emulate {

/// A bridge, which cables are plugged into.
util::Status create_bridge(const std::string& name);
/// A cable: `own_end`, plugged into `bridge`, and `peer_end` in the network namespace of the process `peer`.
util::Status create_cable(const std::string& own_end, const std::string& bridge, const std::string& peer_end,
                          pid_t peer);
/// Adds an IPv4 address with a prefix length and broadcast address.
util::Status add_address(const std::string& interface, const std::string& ipv4, unsigned prefix);
/// Switches an interface on, or off.
util::Status set_interface_up(const std::string& interface, bool on = true);

} // namespace hpcml::emulate
