// SPDX-License-Identifier: MIT
// Addresses that are found out and not used.
#include <fmt/format.h>

#include "check/rule.hpp"
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

RuleMatches find(const LintContext& subject) {
  const auto text = subject.text;
  if (subject.header.directives.empty() || !subject.several_nodes().value_or(false)) return {};
  for (const auto& setting : subject.listing.settings) {
    const auto& name = setting->name;
    if (setting->exported || !is_address_name(name) || setting->value.words.empty() ||
        setting->value.words[0].known() || !is_only_mention(text, name, setting->set_at.offset))
      continue;
    return {{{setting->set_at.offset, name.size()},
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
