// SPDX-License-Identifier: MIT
// Files for another processor than the nodes have.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_architecture {

constexpr std::array<std::string_view, 2> k_x86 = {"x86_64", "amd64"};
constexpr std::array<std::string_view, 2> k_arm = {"aarch64", "arm64"};

using model::CpuArch;

/// The processor of all nodes; unknown where they differ or one is not known.
CpuArch architecture(const ComponentSiteEvaluation& part) {
  auto arch = CpuArch::unknown;
  for (const auto* node : part.fit.nodes) {
    if (node->cpu_arch == CpuArch::unknown || (arch != CpuArch::unknown && node->cpu_arch != arch))
      return CpuArch::unknown;
    arch = node->cpu_arch;
  }
  return arch;
}

bool names_one(const std::string& word, const std::array<std::string_view, 2>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const auto name) { return word.find(name) != std::string::npos; });
}

/// A command that asks or speaks about the processor uses nothing of it.
bool only_speaks(const shell::Command& command) {
  const auto name = command.name();
  return !name || *name == "echo" || *name == "printf" || *name == "[" || *name == "test" ||
         *name == "uname" || *name == "grep" || *name == "export";
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.text.find("64") == std::string_view::npos) return hits;
  const auto parts = parts_of(subject);
  const auto arch = parts.empty() ? CpuArch::unknown : architecture(parts.front());
  if (arch != CpuArch::aarch64 && arch != CpuArch::x86_64) return hits;
  const auto name = model::word_of(arch);
  const auto& others = arch == CpuArch::aarch64 ? k_x86 : k_arm;
  const auto& own = arch == CpuArch::aarch64 ? k_arm : k_x86;
  for (const auto& command : subject.listing.commands) {
    if (command.context.condition || command.context.uncalled || command.context.unreached ||
        only_speaks(command))
      continue;
    for (const auto& word : command.words) {
      const auto text = word.text();
      if (names_one(text, others) && !names_one(text, own))
        hits.push_back(
            {word.place,
             fmt::format("'{}' is built for another processor: the nodes here are {}", text, name),
             cite(fmt::format("use the one for {}", name), parts.front().fit.nodes.front()->origin)});
    }
  }
  return hits;
}

} // namespace site_architecture

Rule rule_site_architecture() {
  using namespace site_architecture;
  return {
      .id = "site/architecture",
      .severity = diag::Severity::warning,
      .title = "Software for another processor",
      .why =
          "What was built or fetched for the processors of another machine, or of the login nodes, ends with "
          "\"Exec format error\" or finds no packages.",
      .link = "https://docs.isambard.ac.uk/user-documentation/guides/python/",
      .bad = {R"(#!/bin/bash
#SBATCH -A g1
#SBATCH -N1
#SBATCH -t 10
#SBATCH -p normal
source /users/me/miniforge-x86_64/bin/activate
srun python train.py
)",
              "alps_clariden"},
      .good = {R"(#!/bin/bash
#SBATCH -A g1
#SBATCH -N1
#SBATCH -t 10
#SBATCH -p normal
source /users/me/miniforge-aarch64/bin/activate
srun python train.py
)",
               "alps_clariden"},
      .find = find,
  };
}

} // namespace hpcml::check
