// SPDX-License-Identifier: MIT
// An option that this version of sbatch does not know.
#include <algorithm>
#include <utility>

#include "check/rule.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_option_unknown {

/// Names that Slurm gave up, and what took their place.
constexpr std::pair<std::string_view, std::string_view> k_renamed[] = {
    {"workdir", "chdir"}, {"share", "oversubscribe"},        {"ntask-per-node", "ntasks-per-node"},
    {"ntask", "ntasks"},  {"cpu-per-task", "cpus-per-task"}, {"gpu-per-node", "gpus-per-node"}};

std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  const auto word = subject.text.substr(place.offset, place.length);
  if (!word.starts_with("--")) return {};
  const auto name =
      word.substr(2, word.find('=') == std::string_view::npos ? std::string_view::npos : word.find('=') - 2);
  auto lowered = util::to_lower(name);
  std::replace(lowered.begin(), lowered.end(), '_', '-');
  for (const auto& [old, now] : k_renamed)
    if (lowered == old) lowered = now;
  if (lowered == name || !slurm::find_option(slurm::Program::sbatch, lowered, subject.version).option ||
      !slurm::is_option(slurm::Program::sbatch, lowered))
    return {};
  return {{place.offset + 2, name.size(), lowered}};
}

} // namespace slurm_option_unknown

Rule rule_slurm_option_unknown() {
  using namespace slurm_option_unknown;
  return {
      .id = "slurm/option-unknown",
      .severity = diag::Severity::error,
      .title = "Unknown option",
      .why = "sbatch refuses the whole script for one unknown option: a typo, an option of srun (--cpu-bind, "
             "--mpi, --label), one of a newer or older Slurm, or one that a site's plugin brings elsewhere.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH --cpus_per_task=8
)"},
      .good = {R"(#!/bin/bash
#SBATCH --cpus-per-task=8
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
