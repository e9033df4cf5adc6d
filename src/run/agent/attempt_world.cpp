// SPDX-License-Identifier: MIT
#include "run/agent/attempt_world.hpp"

namespace hpcml::agent {

launch::World make_attempt_world(const launch::World& own, const AgentCommand& order,
                                 const std::string& address, const launch::AgentFacts& facts) {
  launch::World world = own;
  auto& layout = world.layout;
  std::vector<std::string> nodes;
  layout.tasks_per_node.clear();
  layout.rank = layout.world_size = 0;
  for (unsigned i = 0; i < order.world.size(); ++i) {
    const auto& node = order.world[i];
    nodes.push_back(node.host);
    layout.tasks_per_node.push_back(node.processes);
    if (i < order.node_rank) layout.rank += node.processes;
    layout.world_size += node.processes;
  }
  layout.nodes = std::move(nodes);
  layout.node_rank = order.node_rank;
  layout.local_rank = 0;
  layout.local_world_size = layout.tasks_per_node[order.node_rank];
  world.first_node = order.world.front().host;
  if (!address.empty()) world.address = address;
  world.agent = facts;
  return world;
}

} // namespace hpcml::agent
