// SPDX-License-Identifier: MIT
#include "run/store/service_peers.hpp"

#include "core/util/host_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::store {

const ServicePeer* ServicePeers::find(ClientId client) const {
  const auto found = x_peers.find(client);
  return found == x_peers.end() ? nullptr : &found->second;
}

bool ServicePeers::remove(ClientId client) {
  const auto found = x_peers.find(client);
  if (found == x_peers.end()) return false;
  if (found->second.launcher) --x_launchers;
  if (found->second.elsewhere) --x_elsewhere;
  const bool is_last = found->second.leads && --x_leaders == 0;
  x_peers.erase(found);
  return is_last;
}

void ServicePeers::note_launcher(ClientId client) {
  ServicePeer& peer = x_peers[client];
  if (!peer.launcher) ++x_launchers;
  peer.launcher = true;
}

void ServicePeers::note_leader(ClientId client) {
  ServicePeer& peer = x_peers[client];
  if (!peer.leads) ++x_leaders;
  peer.leads = true;
}

void ServicePeers::note_program(ClientId client, Time now) {
  if (!x_own_addresses) return;
  ServicePeer& peer = x_peers[client];
  if (!peer.elsewhere) {
    if (util::is_loopback_address(peer.address) || util::contains(*x_own_addresses, peer.address)) return;
    peer.elsewhere = true;
    ++x_elsewhere;
  }
  x_last_elsewhere = now;
}

} // namespace hpcml::store
