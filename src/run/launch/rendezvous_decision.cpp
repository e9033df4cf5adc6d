// SPDX-License-Identifier: MIT
#include "run/launch/rendezvous_decision.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/host_names.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/serve_ranks.hpp"
#include "run/resolve/agreement.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/store/client.hpp"
#include "run/store/reserved_port.hpp"

namespace hpcml::launch {

namespace {

constexpr const char* k_agent_store = "TORCHELASTIC_USE_AGENT_STORE";

void set(RankSetup& setup, const std::string& name, const std::string& value) {
  setup.env.set(name, value);
  auto& changes = setup.changes;
  changes.erase(std::remove_if(changes.begin(), changes.end(),
                               [&](const auto& change) { return change.first == name; }),
                changes.end());
  changes.emplace_back(name, value);
}

/// Reserves a port for rank 0's program until the program opens it.
std::uint16_t keep_program_port(const World& world, const std::vector<std::uint16_t>& ports) {
  const auto addresses = local_addresses();
  for (const auto port : ports) {
    const auto kept = store::keep_port(port, addresses);
    if (kept) return port;
    if (world.port_given) {
      util::log_warning(fmt::format("rank 0's program cannot use the requested port {}: {}\nhint: set "
                                    "another --master-port or MASTER_PORT, or "
                                    "remove it: hpcml then chooses a port",
                                    port, kept.error().what));
      break;
    }
  }
  return ports.front();
}

/// The name of rank 0's node; the address of the node that ran srun if it does not resolve.
std::string address_for_all(const World& world, const util::EnvSnapshot& env) {
  const auto node = env.get_or("SLURM_LAUNCH_NODE_IPADDR", "");
  return node.empty() || !addresses_of(world.address).empty() ? world.address : node;
}

/// Sets the coordinator of JAX, whose process 0 serves at its own port on this node.
/// jax.distributed.initialize prefers it to the port that it derives from Slurm's job number, where two
/// steps of a job would connect to each other.
void notify_coordinator(const World& world, const util::EnvSnapshot& env,
                        const std::vector<std::uint16_t>& ports, store::MasterEndpoint& decision) {
  const auto address = address_for_all(world, env);
  auto port = side_port(ports.front());
  const auto own = local_addresses();
  for (std::size_t i = 0; i < ports.size() && !store::keep_port(static_cast<std::uint16_t>(port), own); ++i)
    port = side_port(port + 1);
  decision.coordinator = store::place_text(address, port);
}

/// Without a key the others cannot learn another port.
util::Status keep_only_port(std::uint16_t port, const std::string& for_whom) {
  const auto kept = store::keep_port(port, local_addresses());
  if (kept) return util::Success{};
  return port_in_use(port, for_whom, kept.error());
}

} // namespace

store::MasterEndpoint decide_rendezvous(const RankSetup& setup, const LaunchRequest& request,
                                        const RuntimeContext& context,
                                        const std::vector<std::uint16_t>& ports) {
  const auto& selection = setup.node->store;
  if (selection.is_reported) util::log_info(selection.reason);
  store::MasterEndpoint decision;
  decision.agent_store = selection.agent_store;
  if (!selection.own) decision.port = keep_program_port(setup.world, ports);
  if (model::is_on(request.rank_settings.coordinator))
    notify_coordinator(setup.world, context.env, ports, decision);
  return decision;
}

util::Result<store::MasterEndpoint> decide_alone(const RankSetup& setup, const LaunchRequest& request,
                                                 const RuntimeContext& context, std::uint16_t port) {
  const bool leads = setup.world.layout.rank == 0;
  const auto& selection = setup.node->store;
  if (selection.is_reported && leads) util::log_info(selection.reason);
  store::MasterEndpoint decision;
  decision.address = address_for_all(setup.world, context.env);
  decision.port = port;
  decision.agent_store = selection.agent_store;
  if (leads && !selection.own && setup.world.port_given)
    (void)keep_program_port(setup.world, {port});
  else if (leads && !selection.own)
    TRY_DONE(keep_only_port(port, "rank 0's program"));
  if (!model::is_on(request.rank_settings.coordinator)) return decision;
  const auto coordinator = static_cast<std::uint16_t>(side_port(port));
  if (leads) TRY_DONE(keep_only_port(coordinator, "JAX's coordinator"));
  decision.coordinator = store::place_text(decision.address, coordinator);
  return decision;
}

void apply_decision(RankSetup& setup, const LaunchRequest& request, const store::MasterEndpoint& decision,
                    const std::string& store_place) {
  auto& world = setup.world;
  if (!decision.address.empty()) world.address = decision.address;
  world.port = decision.port;
  set(setup, "MASTER_ADDR", world.address);
  set(setup, "MASTER_PORT", std::to_string(world.port));
  if (store_place.empty())
    setup.env.unset(k_store_variable);
  else
    set(setup, k_store_variable, store_place);
  switch (decision.agent_store) {
  case store::AgentStoreUse::unset: setup.env.unset(k_agent_store); break;
  case store::AgentStoreUse::allowed: set(setup, k_agent_store, "1"); break;
  case store::AgentStoreUse::always:
    set(setup, k_agent_store, "True");
    if (!world.agent) set(setup, "TORCHELASTIC_RESTART_COUNT", "0"); // an agent counts them itself
  }
  if (!decision.coordinator.empty()) set(setup, "JAX_COORDINATOR_ADDRESS", decision.coordinator);
  if (model::is_on(request.rank_settings.coordinator)) {
    set(setup, "JAX_NUM_PROCESSES", std::to_string(world.layout.world_size));
    set(setup, "JAX_PROCESS_ID", std::to_string(world.layout.rank));
  }
  export_rank_marker(setup.changes, setup.env);
  const auto store = store::parse_place(store_place);
  setup.store_serves = store && store->second == decision.port;
}

util::Error port_in_use(std::uint16_t port, const std::string& for_whom, const util::Error& why) {
  return util::Error{
      fmt::format("port {} for {} is in use on rank 0's node: {}", port, for_whom, why.what),
      "set --master-port, or run 'hpcml config key' on a login node: ranks with a key agree on a free "
      "port"};
}

std::string find_own_address(const std::vector<std::string>& preferred) {
  const auto own = local_addresses();
  for (const auto& address : preferred)
    if (util::contains(own, address)) return address;
  for (const auto& address : own)
    if (!util::is_loopback_address(address)) return address;
  return {};
}

} // namespace hpcml::launch
