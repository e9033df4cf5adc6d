// SPDX-License-Identifier: MIT
// Which sockets of this process are connected, as the kernel reports them.
#pragma once

#include <string>
#include <vector>

namespace hpcml::ddp {

/// An established TCP connection of this process, both ends as "address:port".
struct OwnTcpConnection {
  std::string local;
  std::string remote;
  std::string interface; ///< the one that has the local address; empty if none has
};
/// Established connections of this process, without those to or from `ignored_port` (the store's). From
/// /proc.
std::vector<OwnTcpConnection> own_connections(int ignored_port);

} // namespace hpcml::ddp
