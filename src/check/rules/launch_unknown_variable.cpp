// SPDX-License-Identifier: MIT
// Variables that look like settings of NCCL, PyTorch, CUDA or OpenMP, and that nothing reads.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

#include "check/known_variables.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_unknown_variable {

/// Reports timeouts that neither NCCL nor PyTorch has.
void find_timeouts(const LintContext& subject, RuleMatches& hits) {
  for (const auto& seen :
       seen_variables(subject, {"NCCL_TIMEOUT", "NCCL_SOCKET_TIMEOUT", "TORCH_NCCL_TIMEOUT"}))
    add_match(hits, {seen.set_at,
                     fmt::format("neither NCCL nor PyTorch reads {}", seen.name),
                     "set the timeout in the program: init_process_group(timeout=...)",
                     {},
                     diag::Severity::note});
}

/// Whether the script names a PyTorch before 2.9: "pytorch/2.3.0", "torch==2.8".
bool has_torch_before_2_9(std::string_view text) {
  for (auto at = text.find("torch"); at != std::string_view::npos; at = text.find("torch", at + 1)) {
    const auto version = text.substr(std::min(text.find_first_not_of("/=-@_", at + 5), text.size()), 4);
    const bool longer = version.size() > 3 && version[3] >= '0' && version[3] <= '9'; // 2.10
    if (version.starts_with("1.") ||
        (version.starts_with("2.") && version.size() > 2 && version[2] >= '0' && version[2] < '9' && !longer))
      return true;
  }
  return false;
}

/// Reports the name of the allocator's settings that PyTorch has from 2.9 on.
void find_new_name(const LintContext& subject, RuleMatches& hits) {
  for (const auto& seen : seen_variables(subject, {"PYTORCH_ALLOC_CONF"}))
    if (!seen.launch->variable("PYTORCH_CUDA_ALLOC_CONF") && has_torch_before_2_9(subject.text))
      add_match(hits,
                {seen.set_at, "PyTorch reads PYTORCH_ALLOC_CONF from 2.9 on, and the job loads an older one",
                 "use PYTORCH_CUDA_ALLOC_CONF, which all versions read"});
}

/// The names of variables that programs of the script may see, each once.
std::vector<std::string_view> visible_names(const LintContext& subject) {
  std::vector<std::string_view> names;
  const shell::Exports* before = nullptr;
  for (const auto& launch : subject.launches) {
    if (!launch.step() && !launch.agent() && !launch.python() && !launch.container()) continue;
    for (const auto& setting : launch.command->own) names.emplace_back(setting.name);
    const auto* exports = launch.command->exports.get();
    if (!exports || exports == before) continue;
    before = exports;
    for (const auto& variable : *exports)
      if (variable->name.size() >= k_shortest_name) names.emplace_back(variable->name);
  }
  if (!std::is_sorted(names.begin(), names.end())) std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// True if the script itself uses the variable: reads it, or hands it on by its name.
bool is_used(const LintContext& subject, std::string_view name) {
  const auto is_read = [&](std::size_t at) {
    const auto before = subject.text.substr(0, at);
    const auto after = subject.text.substr(at + name.size(), 1);
    return !before.ends_with(' ') && !before.ends_with('\t') && !before.ends_with('\n') &&
           (after.empty() || !util::is_name_char(after[0]));
  };
  for (auto at = subject.text.find(name); at != std::string_view::npos; at = subject.text.find(name, at + 1))
    if (at > 0 && !util::is_name_char(subject.text[at - 1]) && is_read(at) &&
        !is_in_comment(subject.text, at))
      return true;
  return false;
}

/// Reports names that are near those of known variables.
void find_misspelt(const LintContext& subject, RuleMatches& hits) {
  // Programs may read the place of a rank by other names.
  static constexpr std::array<std::string_view, 6> k_general = {
      "GROUP_RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "NODE_RANK", "WORLD_SIZE"};
  for (const auto name : visible_names(subject)) {
    const auto meant = meant_variable(name);
    if (meant.empty() || is_used(subject, name)) continue;
    for (const auto& seen : seen_variables(subject, {name})) {
      const bool is_set = seen.launch->variable(meant) != nullptr;
      add_match(hits, {seen.set_at,
                       fmt::format("no library reads {}: the variable is called {}", name, meant),
                       fmt::format("use {}", meant),
                       {},
                       is_set || util::contains(k_general, meant) ? std::optional(diag::Severity::note)
                                                                  : std::nullopt});
    }
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  find_timeouts(subject, hits);
  find_new_name(subject, hits);
  find_misspelt(subject, hits);
  return hits;
}

} // namespace launch_unknown_variable

Rule rule_launch_unknown_variable() {
  using namespace launch_unknown_variable;
  return {
      .id = "launch/unknown-variable",
      .severity = diag::Severity::warning,
      .title = "Variable that no library reads",
      .why =
          "A misspelt variable has no effect and nothing reports it: NCCL_SOCKET_IFNAMES, OMP_NUM_THREAD, "
          "MASTER_ADDRESS. NCCL_TIMEOUT is set in many scripts against the watchdog's timeout. NCCL has no "
          "such variable, and PyTorch takes the timeout from init_process_group alone: the training still "
          "ends after 10 minutes.",
      .link = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
      .bad = {R"(#!/bin/bash
export NCCL_TIMEOUT=7200
srun python train.py
)"},
      .good = {R"(#!/bin/bash
export NCCL_IB_TIMEOUT=22
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
