// SPDX-License-Identifier: MIT
// Arrays of nodes that have one element.
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "check/job_shape.hpp"
#include "check/rule.hpp"

namespace hpcml::check {
namespace launch_quoted_node_list {

/// The variable of which the word is the value and nothing more: "nodes" of "$nodes".
std::string_view variable_of(const shell::Argument& word) {
  const auto* only = only_unknown_piece(word);
  const std::string_view text = only ? std::string_view(only->text) : std::string_view();
  const auto begin = text.starts_with("${") ? 2U : 1U;
  return text.size() > 2 ? text.substr(begin, text.size() - (begin == 2 ? 3 : 1)) : std::string_view();
}

/// The edits that remove the quotes around the word.
std::vector<Edit> remove_quotes(std::string_view text, diag::TextRange place) {
  const auto last = place.offset + place.length - 1;
  if (place.length < 2 || last >= text.size() || text[place.offset] != '"' || text[last] != '"') return {};
  return {{place.offset, 1, ""}, {last, 1, ""}};
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.text.find("scontrol show hostname") == std::string_view::npos) return hits;
  std::set<std::string_view> lists; // variables with the names of all nodes
  for (const auto& setting : subject.listing.settings) {
    const auto& [name, value] = std::tie(setting->name, setting->value);
    if (value.words.size() != 1) continue;
    const auto& word = value.words[0];
    if (value.kind == shell::Value::Kind::scalar) {
      const auto* only = only_unknown_piece(word);
      const bool is_list = only && only->text.starts_with("$(scontrol show hostname") &&
                           only->text.find('|') == std::string::npos;
      if (is_list)
        lists.insert(name);
      else
        lists.erase(name);
    } else if (!word.many && lists.contains(variable_of(word)) &&
               subject.text.find("${" + name + "[", setting->set_at.offset) != std::string_view::npos)
      hits.add({setting->set_at,
                fmt::format(
                    "{} has one element with the names of all nodes: the quotes keep them in one word", name),
                "remove the quotes", remove_quotes(subject.text, word.place)});
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
