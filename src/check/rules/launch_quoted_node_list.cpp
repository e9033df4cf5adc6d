// SPDX-License-Identifier: MIT
// Arrays of nodes that have one element.
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_quoted_node_list {

/// The name that is assigned directly before the place: of "nodes=$(…" at "=" "nodes".
std::string_view name_before(std::string_view text, std::size_t equals) {
  auto begin = equals;
  while (begin > 0 && util::is_name_char(text[begin - 1])) --begin;
  return text.substr(begin, equals - begin);
}

/// Reports `NAME=("…")` with the text in the quotes, whose words are meant to be elements.
void find_array(const LintContext& subject, const std::string& quoted, RuleMatches& hits) {
  const auto text = subject.text;
  for (auto at = text.find(quoted); at != std::string_view::npos; at = text.find(quoted, at + 1)) {
    const auto name = name_before(text, at);
    if (name.empty() || is_in_comment(text, at) ||
        text.find("${" + std::string(name) + "[", at) == std::string_view::npos)
      continue;
    const auto first = at + 2; // the quote
    const auto last = at + quoted.size() - 2;
    hits.add({{at - name.size(), name.size() + quoted.size()},
              fmt::format("{} has one element with the names of all nodes: the quotes keep them in one word",
                          name),
              "remove the quotes",
              {{first, 1, ""}, {last, 1, ""}}});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto text = subject.text;
  for (auto at = text.find("$(scontrol show hostname"); at != std::string_view::npos;
       at = text.find("$(scontrol show hostname", at + 1)) {
    if (at < 2 || text.find("=(\"$") == std::string_view::npos) continue;
    const bool quoted = text[at - 1] == '"';
    const auto equals = at - (quoted ? 2 : 1);
    const auto line = line_at(text, at);
    const auto rest = text.substr(at, line.offset + line.length - at);
    if (text[equals] != '=' || rest.find('|') != std::string_view::npos) continue;
    const std::string name(name_before(text, equals));
    if (name.empty()) continue;
    find_array(subject, "=(\"$" + name + "\")", hits);
    find_array(subject, "=(\"${" + name + "}\")", hits);
  }
  return hits;
}

} // namespace launch_quoted_node_list

Rule rule_launch_quoted_node_list() {
  using namespace launch_quoted_node_list;
  return {
      .id = "launch/quoted-node-list",
      .severity = diag::Severity::warning,
      .title = "List of nodes as one word",
      .why = "nodes_array=(\"$nodes\") has one element: the names of all nodes with line breaks between "
             "them. The first node is then all of them, nodes_array[1] is empty, and srun -w fails or starts "
             "on other nodes.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Arrays.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2
nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
nodes_array=("$nodes")
srun -w "${nodes_array[0]}" hostname
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
nodes_array=($nodes)
srun -w "${nodes_array[0]}" hostname
)"},
      .find = find,
  };
}

} // namespace hpcml::check
