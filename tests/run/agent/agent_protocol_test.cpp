// SPDX-License-Identifier: MIT
// The messages of agents: each kind arrives, and what no agent sends is rejected.
#include <catch2/catch.hpp>

#include "run/agent/agent_protocol.hpp"

using namespace hpcml;
using namespace hpcml::agent;

namespace {

template <class M> bool arrives(const M& message) {
  const auto back = store::unpack_message<M>(store::pack_message(message));
  return back && store::pack_message(*back) == store::pack_message(message);
}

/// Returns whether an empty message of each kind arrives, but for those that need a world.
template <class M, class... Kinds> bool all_arrive(const std::variant<Kinds...>*) {
  return ((arrives(M{.what = Kinds{}}) != std::is_base_of_v<AttemptSetup, Kinds>)&&...);
}

AttemptSetup setup_of(unsigned node_rank) { return {3, 2, {{"node0", 4}, {"node1", 8}}, node_rank}; }

} // namespace

TEST_CASE("events and commands of every kind arrive") {
  CHECK(all_arrive<AgentEvent>(static_cast<decltype(AgentEvent::what)*>(nullptr)));
  CHECK(all_arrive<AgentCommand>(static_cast<decltype(AgentCommand::what)*>(nullptr)));
  CHECK(arrives(AgentCommand{ServeCommand{setup_of(0), {"node3"}}}));
  CHECK(arrives(AgentCommand{StartCommand{setup_of(1), "node0:4000"}}));
}

TEST_CASE("a node outside its own world is rejected") {
  CHECK_FALSE(arrives(AgentCommand{ServeCommand{setup_of(2), {}}}));
  CHECK_FALSE(arrives(AgentCommand{StartCommand{setup_of(2), "node0:4000"}}));
}

TEST_CASE("values that agents cannot send are rejected") {
  CHECK(arrives(RegisterRequest{"job", "run", "node0", 0U, 1, true}));
  CHECK_FALSE(arrives(RegisterRequest{"job", "run", "node0", 0U, 0, true}));
  CHECK_FALSE(arrives(RegisterRequest{"job", "run", "node 0", 0U, 1, true}));
  CHECK_FALSE(arrives(AgentEvent{0, ServingEvent{"node0"}}));
  CHECK_FALSE(arrives(AgentEvent{0, LeavingEvent{65}}));
  CHECK_FALSE(arrives(AgentCommand{EndCommand{{.code = 256}, {}}}));
  StopCommand stop;
  stop.pause = std::chrono::seconds(31);
  CHECK_FALSE(arrives(AgentCommand{stop}));
}
