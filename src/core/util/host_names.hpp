// SPDX-License-Identifier: MIT
// The names that this machine may be known by, without asking a name server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::util {

/// The name that the kernel has for this machine; empty if it has none.
std::string read_host_name();
/// Whether this is every node's own address: "127.0.1.1", "::1" (also as "[::1]"), "localhost",
/// "localhost.localdomain". Pure: no name is looked up.
bool is_loopback_address(std::string_view address);
/// "nid001" of "nid001.example.org".
std::string short_host_name(const std::string& host);
/// `host` itself, then the longer names that /etc/hosts gives for it and those with the search domains of
/// /etc/resolv.conf. Each once. Pure.
std::vector<std::string> make_host_names(const std::string& host, std::string_view etc_hosts,
                                         std::string_view resolv_conf);
/// Those of this machine; empty when it has no name.
std::vector<std::string> read_host_names();

} // namespace hpcml::util
