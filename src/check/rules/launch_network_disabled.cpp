// SPDX-License-Identifier: MIT
// Fast paths of NCCL switched off, as users do while they look for a fault.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_network_disabled {

/// Whether another plugin than NCCL's own for InfiniBand carries its messages.
bool has_other_network(const Launch& launch) {
  if (!launch.command->exports) return false;
  return std::any_of(launch.command->exports->begin(), launch.command->exports->end(), [](const auto& entry) {
    return entry->name.starts_with("FI_") || entry->name == "NCCL_NET" || entry->name == "NCCL_NET_PLUGIN";
  });
}

/// True if a comment gives a reason: some words after the setting, or a sentence on the line above. Disabled
/// commands and headings ("# NCCL settings") are not reasons.
bool has_reason(const LintContext& subject, diag::TextRange place) {
  if (place.offset >= subject.text.size()) return false;
  const auto line = line_at(subject.text, place.offset);
  const auto text = subject.text.substr(line.offset, line.length);
  const auto explains = [](std::string_view comment, long words) {
    const auto lower = util::to_lower(comment);
    const auto parts = util::split(lower, ' ');
    return lower.find('=') == std::string::npos && lower.find("://") == std::string::npos &&
           lower.find("debug") == std::string::npos &&
           std::count_if(parts.begin(), parts.end(), [](const auto& part) { return !part.empty(); }) >= words;
  };
  const auto behind = text.find(" #");
  if (behind != std::string_view::npos && explains(text.substr(behind + 2), 3)) return true;
  if (line.offset == 0) return false;
  const auto before = line_at(subject.text, line.offset - 1);
  const auto above = util::trim(subject.text.substr(before.offset, before.length));
  return above.starts_with("#") && !above.starts_with("#SBATCH") && explains(above.substr(1), 6);
}

/// Whether the job asks for cards that have no such copies.
bool requests_gaming_cards(const LintContext& subject) {
  static constexpr std::array<std::string_view, 6> k_cards = {"1080", "2080", "3080",
                                                              "3090", "4090", "titan"};
  return std::any_of(k_cards.begin(), k_cards.end(), [&](auto card) {
    return std::any_of(subject.requests.begin(), subject.requests.end(), [&](const auto& request) {
      return std::any_of(request.settings.begin(), request.settings.end(), [&](const auto& entry) {
        return entry.first != "job-name" && entry.second.value &&
               util::to_lower(*entry.second.value).find(card) != std::string::npos;
      });
    });
  });
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& seen :
       seen_variables(subject, {"NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"})) {
    if (!seen.value->known() || seen.value->text() != "1") continue;
    const auto job = shape_of_job(subject);
    const bool network = seen.name == "NCCL_IB_DISABLE";
    if (is_explained(subject, seen.value->place) || has_reason(subject, seen.value->place) ||
        (seen.name == "NCCL_P2P_DISABLE" && requests_gaming_cards(subject)))
      continue;
    if (network ? !job.several_nodes || has_other_network(*seen.launch) : job.gpus_per_node.value_or(0) < 2)
      continue;
    const auto& site = subject.site;
    if (site && std::any_of(site->env.begin(), site->env.end(),
                            [&](const auto& rule) { return rule.name == seen.name; }))
      continue;
    add_match(hits, {seen.value->place,
                     fmt::format("{}=1 makes NCCL copy {}", seen.name,
                                 network ? "between nodes over plain sockets"
                                         : "between the GPUs of a node by a slower way"),
                     "remove it when the fault is found"});
  }
  return hits;
}

} // namespace launch_network_disabled

Rule rule_launch_network_disabled() {
  using namespace launch_network_disabled;
  return {
      .id = "launch/network-disabled",
      .severity = diag::Severity::warning,
      .title = "Disabled network paths of NCCL",
      .why = "NCCL_IB_DISABLE, NCCL_P2P_DISABLE and NCCL_SHM_DISABLE help to find a fault. Left in a script "
             "they cost most of the bandwidth, without any message.",
      .link = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
      .bad = {R"(#!/bin/bash
#SBATCH -N2
export NCCL_IB_DISABLE=1
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1
export NCCL_IB_DISABLE=1
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
