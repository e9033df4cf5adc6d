// SPDX-License-Identifier: MIT
#include "agent/agents_meeting.hpp"

#include "agent/service.hpp"
#include "launch/failure.hpp"
#include "launch/meeting_ports.hpp"
#include "launch/rendezvous.hpp"
#include "util/host_names.hpp"

namespace hpcml::agent {

namespace {

ConductorRules rules_of(const AgentRequest& request, const launch::World& world, const std::string& run_id) {
  const bool placed = request.place.has_value();
  const unsigned nodes = placed ? 1 : world.layout.node_count();
  ConductorRules rules;
  // Machines that no Slurm joins may know a person by different numbers.
  rules.job = placed ? std::string() : launch::meeting_job(world.identity);
  rules.run_id = run_id;
  rules.max_nodes = request.max_nodes > 0 ? request.max_nodes : nodes;
  rules.min_nodes = request.min_nodes > 0 ? request.min_nodes : rules.max_nodes;
  rules.max_restarts = request.max_restarts;
  rules.nodes_return = placed && rules.max_nodes > 1;
  if (placed) {
    rules.patience = request.place->patience;
    rules.last_call = request.place->last_call;
  }
  if (request.stall_timeout) rules.quiet_time = std::to_string(request.stall_timeout->count()) + " s";
  return rules;
}

Hello hello_of(const AgentRequest& request, const launch::Surroundings& here, const launch::World& world,
               const ConductorRules& rules) {
  Hello hello{rules.job, rules.run_id, here.host, {}, world.layout.local_world_size, false};
  if (request.place)
    hello.node_rank = request.place->node_rank;
  else if (rules.max_nodes > 1)
    hello.node_rank = world.layout.node_rank;
  return hello;
}

/// The first node by its names, and the ports at which its agent may be.
struct FirstNodePlace {
  std::string name;
  std::vector<std::uint16_t> ports;
};

FirstNodePlace first_node_of(const AgentRequest& request, const launch::World& world) {
  if (request.place) return {request.place->host, {request.place->port}};
  // Not where the ranks' own stores are looked for.
  return {world.address, launch::meeting_ports(launch::side_port(launch::step_port(world.identity)))};
}

/// Whether this agent is to serve. With a place and no number for this node it does where the place is its
/// own.
bool may_lead(const AgentRequest& request, const launch::Surroundings& here, const launch::World& world) {
  if (!request.place) return world.layout.node_rank == 0;
  if (request.place->node_rank) return *request.place->node_rank == 0;
  for (const auto& address : launch::addresses_of(request.place->host)) {
    if (util::is_loopback_address(address)) return true;
    for (const auto& own : launch::local_addresses())
      if (own == address) return true;
  }
  return request.place->host == here.host || request.place->host == here.machine;
}

util::Result<AgentsMeeting> follow(const Hello& hello, const ConductorRules& rules,
                                   const FirstNodePlace& first, const std::function<bool()>& is_over) {
  ConductorSearch search;
  search.patience = rules.patience;
  search.is_over = is_over;
  for (const auto port : first.ports)
    for (const auto& address : launch::addresses_of(first.name)) search.places.push_back({address, port});
  search.slow = [&](std::chrono::seconds waited, const std::string& said) {
    launch::narrate("hpcml agent: " + hello.host + " has waited " + std::to_string(waited.count()) +
                    " s for the agent of the first node (" + first.name + "): " + said);
  };
  if (search.places.empty())
    return util::Error{"the name " + first.name + " of the first node does not resolve here"};
  TRY(auto link, find_conductor(hello, search));
  return AgentsMeeting{std::move(link), {}, false, first.name};
}

} // namespace

util::Result<AgentsMeeting> meet_agents(const AgentRequest& request, const launch::Surroundings& here,
                                        const launch::World& world, const std::string& run_id,
                                        const std::function<bool()>& is_over) {
  const auto rules = rules_of(request, world, run_id);
  auto hello = hello_of(request, here, world, rules);
  hello.leads = true;
  if (rules.max_nodes == 1) return AgentsMeeting{make_own_link(rules, hello), {}, true, {}};
  const auto first = first_node_of(request, world);
  if (may_lead(request, here, world)) {
    const auto addresses = launch::serving_addresses({first.name, here.host, util::read_host_name()});
    const auto served = start_service(rules, addresses, first.ports);
    if (served) {
      ConductorSearch search;
      search.places = {{addresses.empty() ? "127.0.0.1" : addresses.front(), served->port}};
      search.is_over = is_over;
      TRY(auto link, find_conductor(hello, search));
      return AgentsMeeting{std::move(link), served->pid, true, request.place ? first.name : ""};
    }
    // Of several agents on one machine the first serves.
    if (!request.place || request.place->node_rank) return served.error();
  }
  hello.leads = false;
  auto met = follow(hello, rules, first, is_over);
  if (met && !request.place) met->address.clear();
  return met;
}

} // namespace hpcml::agent
