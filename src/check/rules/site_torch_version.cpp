// SPDX-License-Identifier: MIT
// A PyTorch that is older than the GPUs of the site.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/site_rule.hpp"
#include "core/model/gpu_arch.hpp"
#include "core/model/torch_version.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace site_torch_version {

/// The GPUs of all nodes of the job that need the newest PyTorch, with the version; empty where some node
/// does well without.
struct Need {
  std::string version;
  std::string model;
  model::Origin origin;
};

Need need_of(const ComponentSiteEvaluation& part) {
  Need need;
  for (const auto* node : part.fit.nodes) {
    if (!node->gpu) return {};
    const auto version = model::oldest_torch(model::gpu_arch(*node->gpu));
    if (version.empty()) return {};
    if (need.version.empty() || model::is_older(version, need.version))
      need = {version, node->gpu->model, node->origin};
  }
  return need;
}

/// "2.1.0" of "torch==2.1.0+cu118", "pytorch=2.1", "PyTorch/2.1.2-foss"; empty for another word.
std::string version_in(const std::string& word, bool module) {
  static constexpr std::array<std::string_view, 5> k_heads = {
      "torch==", "torch~=", "pytorch==", "pytorch=", "pytorch::pytorch="};
  const auto lower = util::to_lower(word);
  std::string_view rest;
  if (module) {
    const auto at = lower.rfind("pytorch/");
    if (at != std::string::npos && (at == 0 || lower[at - 1] == '/'))
      rest = std::string_view(lower).substr(at + 8);
  } else
    for (const auto head : k_heads)
      if (lower.starts_with(head)) rest = std::string_view(lower).substr(head.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

bool is_install(const shell::Command& command) {
  return std::any_of(command.words.begin(), command.words.end(), [](const auto& word) {
    const auto text = word.text();
    return text == "install" || text == "create" || text == "add";
  });
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.text.find("orch") == std::string_view::npos) return hits;
  const auto parts = parts_of(subject);
  const auto need = parts.empty() ? Need() : need_of(parts.front());
  if (need.version.empty()) return hits;
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    const bool module = name && (*name == "module" || *name == "ml");
    if (command.context.uncalled || command.context.unreached || (!module && !is_install(command))) continue;
    for (const auto& word : command.words) {
      const auto version = version_in(word.text(), module);
      if (!version.empty() && model::is_older(version, need.version))
        hits.push_back({word.place,
                        fmt::format("PyTorch {} is too old for the GPUs here ({})", version, need.model),
                        cite(fmt::format("use {} or later", need.version), need.origin)});
    }
  }
  return hits;
}

} // namespace site_torch_version

Rule rule_site_torch_version() {
  using namespace site_torch_version;
  return {
      .id = "site/torch-version",
      .severity = diag::Severity::warning,
      .title = "PyTorch older than the GPUs",
      .why = "A build of PyTorch that was not made for a GPU fails at the first kernel: no kernel image is "
             "available for execution on the device.",
      .link = "https://docs.alliancecan.ca/wiki/PyTorch",
      .bad = {R"(#!/bin/bash
#SBATCH -A def-me
#SBATCH -t 60
#SBATCH --gpus-per-node=h100:1
pip install --no-index torch==2.1.2
)",
              "fir"},
      .good = {R"(#!/bin/bash
#SBATCH -A def-me
#SBATCH -t 60
#SBATCH --gpus-per-node=h100:1
pip install --no-index torch==2.5.1
)",
               "fir"},
      .find = find,
  };
}

} // namespace hpcml::check
