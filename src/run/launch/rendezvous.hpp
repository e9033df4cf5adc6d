// SPDX-License-Identifier: MIT
// Addresses and ports of this node, what names of nodes resolve to, and this node's way to other nodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "run/resolve/gloo_interface.hpp"

namespace hpcml::launch {

/// The first IPv4 address of a network interface, else its first IPv6 address that is not its link's own; the
/// error lists the interfaces that have one.
util::Result<std::string> interface_address(const std::string& interface);

/// Returns whether a given address can mean node `node`: its name, its long name, or a name or number that
/// resolves to the same address. A number that this process cannot check is accepted, unless `is_here` and
/// no interface has it.
bool may_be_host(const std::string& address, const std::string& node, bool is_here);

/// The numeric addresses that a name (or number) has, each once, in the resolver's order.
std::vector<std::string> addresses_of(const std::string& name);

/// This node's own addresses that others can name: without those of one link.
std::vector<std::string> local_addresses();

/// Returns the node's way to the first of these hosts that is not this node itself, as far as names show.
/// Nothing if there are none.
NetworkView read_network(const std::vector<std::string>& hosts);

/// This node's addresses among those of `names`, each once; none, which stands for all, where the first of
/// them is not known to be here, or only as a name of the loopback.
std::vector<std::string> serving_addresses(const std::vector<std::string>& names);

/// The addresses of a name.
using Resolver = std::function<std::vector<std::string>(const std::string&)>;

/// The same of a node that has the addresses `own`, where names mean what `resolve` says. Pure as that is.
std::vector<std::string> serving_addresses(const std::vector<std::string>& names,
                                           const std::vector<std::string>& own, const Resolver& resolve);

/// A port on 127.0.0.1 that is free now.
util::Result<unsigned> free_loopback_port();

} // namespace hpcml::launch
