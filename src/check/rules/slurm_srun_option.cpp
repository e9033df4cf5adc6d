// SPDX-License-Identifier: MIT
// Options on a srun line that no srun has, or not that version's.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_srun_option {

using slurm::Program;

/// What is wrong with a name that srun of the subject's version does not resolve; empty where a plugin may
/// have it.
std::string problem(const LintContext& subject, std::string_view name, std::string& hint, std::string& full) {
  const auto any = slurm::find_option(Program::srun, name);
  if (any.option) { // another version has it
    hint = fmt::format("Slurm {} has it", slurm::versions_of(Program::srun, any.option->name));
    return fmt::format("srun {} has no option --{}", name_of(subject.version), name);
  }
  auto dashed = util::replace_all(std::string(name), "_", "-");
  if (dashed != name && slurm::is_option(Program::srun, dashed)) {
    hint = "use --" + dashed;
    full = dashed;
    return fmt::format("srun has no option --{}", name);
  }
  if (slurm::is_option(Program::sbatch, name)) {
    hint = "use it as a directive: it is an option of sbatch";
    return fmt::format("srun has no option --{}", name);
  }
  return {};
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto& link = launch.chain.front();
    if (link.program != "srun" || launch.command->parent) continue;
    for (const auto& option : link.options) {
      const auto place = option.place;
      if (subject.text.substr(place.offset, 2 + std::min<std::size_t>(option.name.size(), 2)) !=
          "--" + option.name.substr(0, 2))
        continue;
      const auto written = subject.text.substr(
          place.offset + 2,
          std::min(subject.text.find_first_of("= \t\r\n\\", place.offset), subject.text.size()) -
              place.offset - 2);
      const auto match = slurm::find_option(
          Program::srun, written, subject.version_known ? std::optional(subject.version) : std::nullopt);
      if (match.option || match.candidates.size() > 1) continue;
      std::string hint, full;
      auto message = problem(subject, written, hint, full);
      if (message.empty()) continue;
      RuleMatch hit{{place.offset, written.size() + 2}, std::move(message), std::move(hint)};
      if (!full.empty()) hit.fix = {{place.offset + 2, written.size(), full}};
      hits.push_back(std::move(hit));
    }
  }
  return hits;
}

} // namespace slurm_srun_option

Rule rule_slurm_srun_option() {
  using namespace slurm_srun_option;
  return {
      .id = "slurm/srun-option",
      .severity = diag::Severity::warning,
      .title = "Unknown option of srun",
      .why = "srun stops at an unknown option before it starts anything: the job runs, waits for nothing and "
             "ends. Options of sbatch alone (--array, --wrap) and typos are the usual ones.",
      .link = "https://slurm.schedmd.com/srun.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
srun --cpus_per_task=4 ./a
)"},
      .good = {R"(#!/bin/bash
srun --cpus-per-task=4 ./a --cpus_per_task=4
)"},
      .find = find,
  };
}

} // namespace hpcml::check
