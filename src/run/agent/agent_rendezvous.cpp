// SPDX-License-Identifier: MIT
#include "run/agent/agent_rendezvous.hpp"

#include <fmt/format.h>
#include <thread>

#include "core/util/host_names.hpp"
#include "core/util/log.hpp"
#include "run/agent/coordinator_service.hpp"
#include "run/launch/job_key.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/resolve/rendezvous_ports.hpp"

namespace hpcml::agent {

namespace {

/// The time to wait for a port that is in use, and for an answer of the process that uses it.
constexpr auto k_port_timeout = std::chrono::seconds(5);
/// For one that has taken our line, if the run waits for as long.
constexpr auto k_busy_timeout = std::chrono::seconds(60);

CoordinatorOptions rules_of(const AgentRequest& request, const launch::World& world,
                            const std::string& run_id) {
  const bool placed = request.place.has_value();
  const unsigned nodes = placed ? 1 : world.layout.node_count();
  CoordinatorOptions rules;
  // On machines without a common Slurm, a user may have different numbers.
  rules.job = placed ? std::string() : launch::rendezvous_job(world.identity);
  rules.run_id = run_id;
  rules.max_nodes = request.max_nodes > 0 ? request.max_nodes : nodes;
  rules.min_nodes = request.min_nodes > 0 ? request.min_nodes : rules.max_nodes;
  if (!placed && nodes == rules.max_nodes) rules.hosts = world.layout.nodes;
  rules.max_restarts = request.max_restarts;
  if (rules.max_nodes > 1) rules.heartbeat = request.heartbeat; // else the only agent is the coordinator
  rules.nodes_return = placed && rules.max_nodes > 1;
  if (placed) {
    rules.join_timeout = request.place->join_timeout;
    rules.extra_nodes_timeout = request.place->extra_nodes_timeout;
  }
  if (request.stall_timeout) rules.stall_timeout = fmt::format("{} s", request.stall_timeout->count());
  return rules;
}

RegisterRequest registration_of(const AgentRequest& request, const launch::RuntimeContext& context,
                                const launch::World& world, const CoordinatorOptions& rules) {
  RegisterRequest registration{rules.job, rules.run_id, context.host, {}, world.layout.local_world_size,
                               false};
  if (request.place)
    registration.node_rank = request.place->node_rank;
  else if (rules.max_nodes > 1)
    registration.node_rank = world.layout.node_rank;
  return registration;
}

/// The first node by its names, and the ports at which its agent may be.
struct FirstNodePlace {
  std::string name;
  std::vector<std::uint16_t> ports;
};

FirstNodePlace first_node_of(const AgentRequest& request, const launch::RuntimeContext& context,
                             const launch::World& world) {
  if (request.place) return {request.place->host, {request.place->port}};
  auto name = world.address;
  // srun was run on the first node, as a rule.
  if (launch::addresses_of(name).empty()) name = context.env.get_or("SLURM_LAUNCH_NODE_IPADDR", name);
  // Not where the ranks' own stores are looked for.
  return {name, launch::rendezvous_ports(launch::side_port(launch::step_port(world.identity)))};
}

/// Whether this agent is to serve. With a place and no number for this node it does where the place is its
/// own.
bool may_lead(const AgentRequest& request, const launch::RuntimeContext& context,
              const launch::World& world) {
  if (!request.place) return world.layout.node_rank == 0;
  if (request.place->node_rank) return *request.place->node_rank == 0;
  for (const auto& address : launch::addresses_of(request.place->host)) {
    if (util::is_loopback_address(address)) return true;
    for (const auto& own : launch::local_addresses())
      if (own == address) return true;
  }
  return request.place->host == context.host || request.place->host == context.machine;
}

/// Returns the key of the agents of a step. On several nodes they create the key file if there is none: each
/// tries, one succeeds, and all read the same file.
util::Result<launch::JobChannelKey> find_step_channel(const launch::RuntimeContext& context,
                                                      const launch::World& world, unsigned max_nodes) {
  if (world.channel.is_shared) return world.channel;
  const bool is_alone = max_nodes == 1;
  auto found = launch::find_job_channel(context.env, world.identity, is_alone);
  if (!found || found->is_shared || is_alone) return found;
  const auto made = store::make_user_key(store::user_key_path(context.env));
  if (made) return launch::find_job_channel(context.env, world.identity, false);
  found->origin += "; " + made.error().what;
  return found;
}

/// Returns the key of a run's agents. Those that no Slurm joins may do without one, as torch's do.
util::Result<launch::JobChannelKey> find_run_channel(const AgentRequest& request,
                                                     const launch::RuntimeContext& context,
                                                     const launch::World& world, unsigned max_nodes) {
  if (!request.place) return find_step_channel(context, world, max_nodes);
  TRY(auto found, store::find_channel_key(context.env, store::derive_run_key, request.key_file));
  if (found.key) return launch::JobChannelKey{std::move(found.key), true, false, std::move(found.origin)};
  return launch::JobChannelKey{store::SecretKey::make_random(), true, max_nodes > 1, std::move(found.origin)};
}

util::Status check_channel(const launch::JobChannelKey& channel, unsigned max_nodes) {
  if (channel.is_shared || max_nodes == 1) return util::Success{};
  return util::Error{fmt::format("hpcml's agents on {} nodes have no key to authenticate each other: {}",
                                 max_nodes, channel.origin),
                     "run 'hpcml config key' on a login node once, or set HPCML_KEY_FILE to a path that all "
                     "nodes can access"};
}

using Found = std::variant<std::unique_ptr<CoordinatorConnection>, CoordinatorSearchError>;

/// None for agents without a key.
std::optional<store::SecretKey> key_to_prove(const launch::JobChannelKey& channel) {
  return channel.is_open ? std::nullopt : channel.key;
}

Found look_for_first(const RegisterRequest& registration, const launch::JobChannelKey& channel,
                     const FirstNodePlace& first, const HeartbeatOptions& heartbeat,
                     std::chrono::seconds join_timeout, std::chrono::seconds answer,
                     const std::function<bool()>& is_over) {
  CoordinatorSearchOptions search;
  search.key = key_to_prove(channel);
  search.name = first.name;
  search.heartbeat = heartbeat;
  search.join_timeout = join_timeout;
  search.answer = answer;
  search.is_over = is_over;
  for (const auto port : first.ports)
    for (const auto& address : launch::addresses_of(first.name)) search.places.push_back({address, port});
  search.slow = [&](std::chrono::seconds waited, const std::string& reason) {
    util::log_info(fmt::format("{0} has waited {1} s for the agent of the first node ({2}): {3}\n"
                               "hint: check that hpcml has started on {2}, and that {0} can connect to it",
                               registration.host, waited.count(), first.name, reason));
  };
  if (search.places.empty())
    return CoordinatorSearchError{
        {fmt::format("the name of the first node, '{}', does not resolve on {}", first.name,
                     registration.host),
         fmt::format("run getent hosts {} on this node: if it prints nothing, report "
                     "that to the site's administrators",
                     first.name)},
        true};
  return find_coordinator(registration, search);
}

/// Serves and leads; an error where no port is free.
util::Result<AgentRendezvous> lead(const CoordinatorOptions& rules, RegisterRequest registration,
                                   const launch::JobChannelKey& channel, const FirstNodePlace& first,
                                   const std::vector<std::string>& addresses,
                                   const std::function<bool()>& is_over) {
  TRY(const auto served, start_service(rules, channel, addresses, first.ports));
  registration.leads = true;
  CoordinatorSearchOptions search;
  search.key = key_to_prove(channel);
  search.places = {{addresses.empty() ? "127.0.0.1" : addresses.front(), served.port}};
  search.is_over = is_over;
  search.own = true;
  search.name = fmt::format("{}, process {}", registration.host, served.pid);
  search.heartbeat = rules.heartbeat;
  auto found = find_coordinator(registration, search);
  if (auto* none = std::get_if<CoordinatorSearchError>(&found)) return none->error;
  return AgentRendezvous{std::move(std::get<0>(found)), served.pid, true, {}, {}, {}};
}

/// Agents without a key take that of their ranks' stores from the first node, and accept any answer from
/// there.
void note_open_channel(AgentRendezvous& rendezvous, const FirstNodePlace& first) {
  if (auto key = store::SecretKey::parse(rendezvous.link->open_secret()))
    rendezvous.channel.key = std::move(key);
  if (rendezvous.leads)
    util::log_warning(fmt::format(
        "no key protects this run ({}): as with torchrun, every user with network access to {} can "
        "join it\nhint: run 'hpcml config key' once, or set --rdzv-conf key_file=FILE on all nodes",
        rendezvous.channel.origin, first.name));
}

} // namespace

util::Result<AgentRendezvous> join_agents(const AgentRequest& request, const launch::RuntimeContext& context,
                                          const launch::World& world, const std::string& run_id,
                                          const std::function<bool()>& is_over) {
  const auto begin = std::chrono::steady_clock::now();
  const auto rules = rules_of(request, world, run_id);
  auto registration = registration_of(request, context, world, rules);
  TRY(auto channel, find_run_channel(request, context, world, rules.max_nodes));
  TRY_DONE(check_channel(channel, rules.max_nodes));
  if (rules.max_nodes == 1) {
    registration.leads = true;
    return AgentRendezvous{make_own_link(rules, registration), {}, true, {}, std::move(channel), begin};
  }
  const auto first = first_node_of(request, context, world);
  const bool may = may_lead(request, context, world);
  const bool must = may && (!request.place || request.place->node_rank);
  const auto addresses = may ? launch::serving_addresses({first.name, context.host, util::read_host_name()})
                             : std::vector<std::string>();
  for (;;) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    auto rendezvous = may ? lead(rules, registration, channel, first, addresses, is_over) : util::Error{};
    // The port may still be that of a run that has just ended.
    if (must && !rendezvous && !is_over() && waited < k_port_timeout) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      continue;
    }
    if (!rendezvous && !must) {
      // Of several agents on one machine the first serves; where that one goes before we have come, we may.
      auto found = look_for_first(registration, channel, first, rules.heartbeat,
                                  may ? k_port_timeout : rules.join_timeout,
                                  std::min(k_busy_timeout, rules.join_timeout), is_over);
      if (const auto* none = std::get_if<CoordinatorSearchError>(&found)) {
        if (may && !none->refused && waited < rules.join_timeout) continue;
        return none->error;
      }
      rendezvous = AgentRendezvous{std::move(std::get<0>(found)), {}, false, {}, {}, {}};
    }
    if (rendezvous) rendezvous->channel = channel;
    if (rendezvous && channel.is_open) note_open_channel(*rendezvous, first);
    if (rendezvous && (request.place || first.name != world.address)) rendezvous->address = first.name;
    if (rendezvous) rendezvous->begun = begin;
    return rendezvous;
  }
}

} // namespace hpcml::agent
