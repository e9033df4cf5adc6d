// SPDX-License-Identifier: MIT
#include "core/slurm/healthy_node_selection.hpp"

#include <algorithm>

namespace hpcml::slurm {

namespace {

const node_health::BadNode* find_node(const std::vector<node_health::BadNode>& all, const std::string& node) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.node == node; });
  return found == all.end() ? nullptr : &*found;
}

} // namespace

std::vector<std::string> without_bad(const std::vector<std::string>& nodes,
                                     const std::vector<node_health::BadNode>& known) {
  std::vector<std::string> left;
  for (const auto& node : nodes)
    if (find_node(known, node) == nullptr) left.push_back(node);
  return left;
}

HealthyNodeSelection choose_nodes(const std::vector<std::string>& nodes, std::string_view answers,
                                  const std::vector<node_health::BadNode>& known, std::size_t need) {
  const auto answers_read = node_health::parse_bad_nodes(answers);
  HealthyNodeSelection run;
  std::vector<std::string> healthy;
  const auto candidates = without_bad(nodes, known);
  for (const auto& node : candidates) {
    const auto* answer = find_node(answers_read, node);
    if (answer != nullptr && answer->why == k_healthy)
      healthy.push_back(node);
    else
      run.bad.push_back({node, answer == nullptr ? "it did not answer" : answer->why});
  }
  if (healthy.empty()) {
    run.was_informed = false;
    run.bad.clear();
    healthy = candidates;
  }
  const auto end = healthy.begin() + static_cast<std::ptrdiff_t>(std::min(need, healthy.size()));
  run.chosen.assign(healthy.begin(), end);
  run.spare.assign(end, healthy.end());
  return run;
}

} // namespace hpcml::slurm
