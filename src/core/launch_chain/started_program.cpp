// SPDX-License-Identifier: MIT
#include "core/launch_chain/started_program.hpp"

#include "core/launch_chain/launches.hpp"
#include "core/launch_chain/shell_quoted_command.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch_chain {

std::optional<StartedProgram> find_started_program(const std::vector<std::string>& command) {
  if (command.empty()) return std::nullopt;
  const auto quoted = quote_argv(command);
  const auto script = shell::read_script(quoted.text);
  const auto listing = shell::list_commands(script);
  for (const auto& launch : find_launches(listing)) {
    if (launch.chain.empty() || launch.command->context.substitution) continue;
    if (!launch.command->context.script.empty()) return std::nullopt;
    StartedProgram found;
    const auto& last = launch.chain.back();
    if (!last.complete && last.program != "python") return std::nullopt;
    while (found.at < command.size() && quoted.offsets[found.at] < last.place.offset) ++found.at;
    for (const auto& link : launch.chain) {
      if (&link != &last) found.before.push_back(link.program);
      // What python's own words seem to set is its script's affair.
      for (const auto& set : link.sets)
        if (set.value.known()) found.sets.emplace_back(set.name, set.value.text());
    }
    return found;
  }
  return std::nullopt;
}

} // namespace hpcml::launch_chain
