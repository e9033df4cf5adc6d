// SPDX-License-Identifier: MIT
#include "core/site_rules/submission_request.hpp"

#include <algorithm>

namespace hpcml::site_rules {

SubmitMethod submit_method_of(const model::Site& site, const JobFacts& facts) {
  SubmitMethod method;
  for (const auto& host : site.submit.hosts)
    if (applies(host.when, facts)) method.hosts.push_back(host.value);
  const auto& commands = site.submit.commands;
  const auto held = [&](const auto& command) { return applies(command.when, facts); };
  const auto found = std::find_if(commands.begin(), commands.end(), held);
  if (found != commands.end()) method.command = &*found;
  return method;
}

} // namespace hpcml::site_rules
