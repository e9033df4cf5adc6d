// SPDX-License-Identifier: MIT
#include "run/launch/serve_ranks.hpp"

#include "core/util/host_names.hpp"
#include "core/util/log.hpp"
#include "run/launch/job_key.hpp"
#include "run/launch/join_rendezvous.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/rendezvous_decision.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/store/client.hpp"

namespace hpcml::launch {

std::vector<std::uint16_t> ports_of(const World& world) {
  return rendezvous_ports(world.in_job ? step_port(world.identity) : world.port,
                          world.port_given ? std::optional(world.port) : std::nullopt);
}

std::vector<std::string> own_addresses(const World& world, const RuntimeContext& context) {
  // The name of the rendezvous, and other names that programs may use for this node.
  return serving_addresses({world.address, context.host, util::read_host_name()});
}

StoreServiceRequest order_of(const World& world, const RuntimeContext& context,
                             std::vector<std::uint16_t> ports) {
  StoreServiceRequest order;
  order.rules.job = order.gate.job = rendezvous_job(world.identity);
  order.rules.step = rendezvous_step(world);
  order.rules.world_size = world.layout.world_size;
  order.gate.key = world.channel.key;
  if (!world.channel.is_shared) order.gate.plain = store::PlainMessagePolicy::announcements;
  order.addresses = own_addresses(world, context);
  order.ports = std::move(ports);
  return order;
}

util::Result<StoreChild> serve_ranks(const std::shared_ptr<const NodeSetup>& node,
                                     const RuntimeContext& context, store::SharedStoreActivity* activity,
                                     bool stays_for_others) {
  const World& world = node->world;
  auto ports = ports_of(world);
  if (!world.channel.is_shared)
    ports = node->store.own ? std::vector{ports.front()} : std::vector(ports.begin() + 1, ports.end());
  // The port that was asked for is the program's where that serves itself.
  else if (world.port_given && !node->store.own)
    ports.erase(ports.begin());
  // Any port is possible only if all ranks receive its number.
  if (world.layout.node_count() == 1 || world.agent) ports.push_back(0);
  auto order = order_of(world, context, ports);
  order.activity = activity;
  order.stays_for_others = stays_for_others;
  return start_store_child(order);
}

std::optional<StoreChild> serve_started_ranks(const std::shared_ptr<NodeSetup>& node,
                                              const LaunchRequest& request, const RuntimeContext& context,
                                              store::SharedStoreActivity* activity) {
  const World& world = node->world;
  node->env.unset(k_store_variable); // it may name the store of another step
  if (world.layout.node_rank != 0 || !needs_rendezvous(world, request)) return std::nullopt;
  const auto store = serve_ranks(node, context, activity, world.layout.node_count() > 1);
  if (!store) {
    util::log_error(store.error());
    return std::nullopt;
  }
  node->env.set(k_store_variable, store::place_text(world.address, store->port));
  node->store_port = store->port;
  return *store;
}

} // namespace hpcml::launch
