// SPDX-License-Identifier: MIT
#include "run/launch/rank_network.hpp"

#include <algorithm>

#include "core/util/text.hpp"
#include "run/launch/interfaces.hpp"

namespace hpcml::launch {

void settle_interfaces(NodeSetup& setup, const model::Site& site, const std::vector<std::string>& present) {
  std::vector<std::string> dropped;
  std::string wanted;
  auto& env = setup.plan.env;
  for (auto variable = env.begin(); variable != env.end();) {
    if (variable->expression || !names_interfaces(variable->name) || setup.env.get(variable->name)) {
      ++variable;
      continue;
    }
    const std::string kept = present_interfaces(variable->name, variable->value, present);
    if (kept == variable->value) {
      ++variable;
      continue;
    }
    wanted = variable->value;
    dropped.push_back(variable->name + (kept.empty() ? " is left out" : "=" + kept));
    variable->value = kept;
    variable = kept.empty() ? env.erase(variable) : std::next(variable);
  }
  if (!dropped.empty())
    setup.node_warnings.push_back("this node has not all of " + site.id + "'s interfaces " + wanted +
                                  " (it has " + util::join(present, ", ") +
                                  "): " + util::join(dropped, ", "));
}

void settle_gloo_interface(NodeSetup& setup, const NetworkView& network) {
  constexpr const char* k_name = "GLOO_SOCKET_IFNAME";
  auto& env = setup.plan.env;
  const bool planned =
      std::any_of(env.begin(), env.end(), [](const auto& variable) { return variable.name == k_name; });
  if (planned || setup.env.get(k_name) || setup.world.layout.node_count() < 2) return;
  const auto interface = choose_gloo_interface(network, setup.env.get_or("NCCL_SOCKET_IFNAME", ""));
  if (!interface.empty())
    env.push_back(
        {k_name,
         interface,
         false,
         model::Scope::task,
         {model::OriginKind::rule, "the interface by which this node reaches the others", {}, {}, {}}});
}

void settle_limits(NodeSetup& setup, const NodeView& node, const std::string& site_fabric) {
  setup.limits = raise_limits(node.limits);
  const auto fabric = node.locking_fabric.empty() ? locking_fabric_of(site_fabric) : node.locking_fabric;
  const auto& locked = node.limits.locked_memory;
  const auto fault = check_locked_memory(locked, fabric);
  if (!fault) return;
  setup.node_warnings.push_back(fault->can_be_raised
                                    ? "locked memory was limited to " + describe_bytes(locked.soft) +
                                          " (ulimit -l), too little for " + fabric +
                                          ": raised to the hard limit, " + describe_bytes(locked.hard)
                                    : fault->what + "; " + fault->next);
}

} // namespace hpcml::launch
