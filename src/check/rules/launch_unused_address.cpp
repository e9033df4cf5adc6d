// SPDX-License-Identifier: MIT
// Addresses that are found out and not used.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_unused_address {

/// True if the name is that of an address of the first node: "head_node_ip", "master_addr".
bool is_address_name(std::string_view name) {
  const auto lower = util::to_lower(name);
  const bool first = lower.find("head") != std::string::npos || lower.find("master") != std::string::npos ||
                     lower.find("main") != std::string::npos;
  return first && (lower.ends_with("ip") || lower.ends_with("addr") || lower.ends_with("address"));
}

/// True if the text is one word, not the value for one command: "a=$b program".
bool is_one_value(std::string_view value) {
  value = util::trim(value);
  for (const std::string_view pair : {"()", "\"\"", "``"})
    if (value.ends_with(pair[1]) && (value[0] == pair[1] || value.starts_with("$("))) return true;
  return value.find_first_of(" \t\\") == std::string_view::npos;
}

/// True if the text has the name at this place only, comments aside.
bool is_only_mention(std::string_view text, std::string_view name, std::size_t place) {
  for (auto at = shell::find_name(text, name); at != std::string_view::npos;
       at = shell::find_name(text, name, at + 1))
    if (at != place && !is_in_comment(text, at)) return false;
  return true;
}

RuleMatches find(const LintContext& subject) {
  const auto text = subject.text;
  if (subject.header.directives.empty() || !subject.several_nodes().value_or(false) ||
      !is_shell_script(text) || text.find("set -a") != std::string_view::npos)
    return {};
  for (auto at = subject.header.end; at < text.size(); at = next_line(text, at)) {
    const auto line = line_at(text, at);
    const auto written = text.substr(line.offset, line.length);
    const auto equals = written.find('=');
    if (equals == std::string_view::npos || equals == 0 || written.substr(equals + 1).empty()) continue;
    const auto name = written.substr(0, equals);
    if (!std::all_of(name.begin(), name.end(), util::is_name_char) || !is_address_name(name) ||
        written.find('$', equals) == std::string_view::npos || !is_one_value(written.substr(equals + 1)) ||
        subject.is_in_text(line.offset) || !is_only_mention(text, name, line.offset))
      continue;
    return {{{line.offset, equals},
             fmt::format("nothing uses {}: the programs get another address", name),
             fmt::format("use \"${}\" as the address of the rendezvous", name)}};
  }
  return {};
}

} // namespace launch_unused_address

Rule rule_launch_unused_address() {
  using namespace launch_unused_address;
  return {
      .id = "launch/unused-address",
      .severity = diag::Severity::note,
      .title = "Address of the first node that nothing uses",
      .why = "The script finds out the address of the first node and does not pass it on. The rendezvous "
             "takes another address, which is right only by chance, or waits for ranks that do not come.",
      .link = "https://docs.pytorch.org/docs/stable/elastic/run.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --time=10
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head" hostname --ip-address)
srun run_node.sh 10.10.0.101
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --time=10
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head" hostname --ip-address)
srun run_node.sh "$head_node_ip"
)"},
      .find = find,
  };
}

} // namespace hpcml::check
