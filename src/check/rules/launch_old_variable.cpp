// SPDX-License-Identifier: MIT
// Variables of PyTorch's NCCL backend under their old names.
#include <algorithm>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_old_variable {

/// Whether the script names a torch that knows the old names only: "pytorch/1.13", "torch==2.1.0".
bool has_older_torch(std::string_view text) {
  for (auto at = text.find("torch"); at != std::string_view::npos; at = text.find("torch", at + 1)) {
    const auto version = text.substr(std::min(text.find_first_not_of("/=-@_", at + 5), text.size()), 4);
    const bool two = version.starts_with("2.0") || version.starts_with("2.1");
    const bool longer = version.size() > 3 && version[3] >= '0' && version[3] <= '9'; // 2.10
    if (version.starts_with("1.") || (two && !longer)) return true;
  }
  return false;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& seen : seen_variables(subject, {"NCCL_ASYNC_ERROR_HANDLING", "NCCL_BLOCKING_WAIT",
                                                   "NCCL_DESYNC_DEBUG", "NCCL_ENABLE_TIMING"})) {
    const std::string name(seen.name), now = "TORCH_" + name;
    if (seen.launch->variable(now) || has_older_torch(subject.text)) continue;
    const auto value = seen.value->place.offset;
    const auto at = value > name.size() ? value - name.size() - 1 : 0;
    const bool written = subject.text.substr(at).starts_with(name + "=");
    // No fix: an older torch knows the old name only.
    add_match(hits, {written ? diag::TextRange{at, name.size()} : seen.set_at,
                     fmt::format("{} is called {} from torch 2.2 on", name, now), now});
  }
  return hits;
}

} // namespace launch_old_variable

Rule rule_launch_old_variable() {
  using namespace launch_old_variable;
  return {
      .id = "launch/old-variable",
      .severity = diag::Severity::note,
      .title = "An old name of a variable",
      .why = "From 2.2 on PyTorch's own settings of the NCCL backend begin with TORCH_NCCL_. The old names "
             "still count but warn in every process, and will go.",
      .link = "https://docs.pytorch.org/docs/stable/torch_nccl_environment_variables.html",
      .bad = {R"(#!/bin/bash
export NCCL_ASYNC_ERROR_HANDLING=1
srun python train.py
)"},
      .good = {R"(#!/bin/bash
export TORCH_NCCL_ASYNC_ERROR_HANDLING=1
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
