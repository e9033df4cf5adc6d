// SPDX-License-Identifier: MIT
#include "launch/rank_network.hpp"

#include <algorithm>

#include "launch/interfaces.hpp"
#include "util/text.hpp"

namespace hpcml::launch {

namespace {

void drop_missing(NodeSetup& setup, const model::Site& site, const std::vector<std::string>& present) {
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

} // namespace

void settle_interfaces(NodeSetup& setup, const model::Site& site, const std::vector<std::string>& present) {
  for (const auto& name : site.network.interfaces)
    if (present.empty() || std::find(present.begin(), present.end(), name) != present.end())
      setup.interfaces.push_back(name);
  drop_missing(setup, site, present);
}

} // namespace hpcml::launch
