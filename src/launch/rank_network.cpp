// SPDX-License-Identifier: MIT
#include "launch/rank_network.hpp"

#include <algorithm>

#include "launch/interfaces.hpp"
#include "util/text.hpp"

namespace hpcml::launch {

namespace {

void drop_missing(RankSetup& setup, const model::Site& site, const std::vector<std::string>& present) {
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
    setup.node_warnings.push_back("this node has not all of " + site.id + "'s interfaces " + wanted + " (it has " + util::join(present, ", ") +
                                  "): " + util::join(dropped, ", "));
}

/// Each rank one interface, also where its own is missing: Gloo hangs when ranks have different numbers of them.
void take_nearest(RankSetup& setup) {
  const auto& names = setup.interfaces;
  if (!setup.plan.nic_for_each_gpu || setup.agent || names.size() < 2) return;
  for (auto& variable : setup.plan.env) {
    if (variable.name != "GLOO_SOCKET_IFNAME" || variable.expression || variable.value != util::join(names, ",")) continue;
    const bool there = std::find(names.begin(), names.end(), setup.plan.binding.nic) != names.end();
    variable.value = there ? setup.plan.binding.nic : names.front();
    variable.origin = {model::OriginKind::rule, there ? "the NIC nearest the rank's GPU" : "the rank's NIC is missing here", {}, {}, {}};
  }
}

} // namespace

void settle_interfaces(RankSetup& setup, const model::Site& site, const std::vector<std::string>& present) {
  for (const auto& name : site.network.interfaces)
    if (present.empty() || std::find(present.begin(), present.end(), name) != present.end()) setup.interfaces.push_back(name);
  drop_missing(setup, site, present);
  take_nearest(setup);
}

} // namespace hpcml::launch
