// SPDX-License-Identifier: MIT
#include "launch/meet_decision.hpp"

#include <unistd.h>

#include "launch/failure.hpp"
#include "launch/rendezvous.hpp"
#include "store/client.hpp"
#include "store/kept_port.hpp"

namespace hpcml::launch {

namespace {

/// jax.distributed.initialize takes it before what it finds out itself from Slurm's variables, a port that
/// follows from the job alone: two steps of a job would meet there.
constexpr const char* k_coordinator = "JAX_COORDINATOR_ADDRESS";

/// A port for rank 0's program that nobody is given before it comes.
std::uint16_t keep_program_port(const World& world, const std::vector<std::uint16_t>& ports) {
  const auto addresses = local_addresses();
  for (const auto port : ports) {
    const auto kept = store::keep_port(port, addresses);
    if (kept) return port;
    if (world.port_given) {
      narrate("hpcml launch: rank 0's program will not be able to serve at port " + std::to_string(port) +
              ", which was asked for: " + kept.error().what);
      break;
    }
  }
  return ports.front();
}

/// JAX's process 0 serves at a port of its own, on this node.
void tell_coordinator(const World& world, const util::EnvSnapshot& env,
                      const std::vector<std::uint16_t>& ports, store::Decision& decision) {
  auto address = world.address;
  const auto node = env.get_or("SLURM_LAUNCH_NODE_IPADDR", "");
  if (addresses_of(address).empty() && !node.empty()) address = node;
  auto port = side_port(ports.front());
  const auto own = local_addresses();
  for (std::size_t i = 0; i < ports.size() && !store::keep_port(static_cast<std::uint16_t>(port), own); ++i)
    port = side_port(port + 1);
  decision.set.emplace_back(k_coordinator, store::place_text(address, port));
}

} // namespace

StoreWords choose_words(const RankSetup& setup, const LaunchRequest& request) {
  const auto& asked = request.asked.store;
  if (setup.node->agent) {
    StoreWords words;
    words.reason = "each rank is an agent, which serves a store of its own: --store own is not for it";
    words.say = asked && asked->value == StoreChoice::own;
    return words;
  }
  char folder[4096];
  return choose_store(model::value_or(asked, StoreChoice::automatic),
                      find_torch(request.command, setup.env, ::getcwd(folder, sizeof folder) ? folder : "/"));
}

store::Decision decide_meeting(const RankSetup& setup, const LaunchRequest& request, const Surroundings& here,
                               const std::vector<std::uint16_t>& ports) {
  const auto words = choose_words(setup, request);
  if (words.say) narrate("hpcml launch: " + words.reason);
  store::Decision decision{0, words.set, words.remove};
  if (!words.own) decision.port = keep_program_port(setup.world, ports);
  if (model::is_on(request.asked.coordinator)) tell_coordinator(setup.world, here.env, ports, decision);
  return decision;
}

} // namespace hpcml::launch
