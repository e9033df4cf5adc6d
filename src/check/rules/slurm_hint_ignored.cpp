// SPDX-License-Identifier: MIT
// --hint next to options that make Slurm ignore it.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace slurm_hint_ignored {

/// True if srun chooses the CPUs itself: neither a list of them, nor an option that only prints.
bool binds(const GivenOption& option) {
  const auto value = option.value ? option.value->text() : std::string();
  return !value.empty() && value != "verbose" && value != "v" && value != "quiet" && value != "q" &&
         value.find("mask_") == std::string::npos && value.find("map_") == std::string::npos &&
         value.find('$') == std::string::npos;
}

/// True if the option asks for the same threads of a core as the hint.
bool agrees(std::string_view hint, std::string_view option, std::string_view value) {
  if (hint == "nomultithread") return option == "threads-per-core" && value == "1";
  return hint == "multithread" && value == "2" &&
         (option == "threads-per-core" || option == "ntasks-per-core");
}

/// A task for each core is most of what the hint asks for.
std::optional<diag::Severity> severity_of(std::string_view hint, std::string_view option) {
  return hint == "nomultithread" && option == "ntasks-per-core" ? std::optional(diag::Severity::note)
                                                                : std::nullopt;
}

RuleMatch match_of(diag::TextRange place, std::string_view program, std::string_view hint,
                   std::string_view option) {
  return {place,
          fmt::format("{} ignores --hint, as --{} is given too", program, option),
          hint == "nomultithread" ? "use --threads-per-core=1 in its place" : "remove one of them",
          {},
          severity_of(hint, option)};
}

constexpr std::array<std::string_view, 3> k_stronger = {"ntasks-per-core", "threads-per-core",
                                                        "extra-node-info"};

/// True if the site's documents set the hint next to a binding.
bool is_required(const LintContext& subject) {
  return subject.site && std::any_of(subject.site->common_options.begin(), subject.site->common_options.end(),
                                     [](const auto& rule) { return rule.value.starts_with("--hint"); });
}

void find_in_steps(const LintContext& subject, RuleMatches& hits) {
  if (is_required(subject)) return;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !is_own(launch, *step)) continue;
    const auto* option = step->find("hint");
    const auto hint = option ? step->value("hint") : std::nullopt;
    if (!hint) continue;
    const auto stronger = std::find_if(k_stronger.begin(), k_stronger.end(), [&](auto name) {
      return step->find(name) && !agrees(*hint, name, step->value(name).value_or(""));
    });
    const auto* binding = step->find("cpu-bind");
    if (stronger != k_stronger.end())
      add_match(hits, match_of(option->place, "srun", *hint, *stronger));
    else if (binding && binds(*binding) && !step->find("threads-per-core"))
      add_match(hits, match_of(option->place, "srun", *hint, "cpu-bind"));
  }
}

/// Reports the hint of a component that sbatch has dropped.
void check_component(const slurm::JobOptions& request, const slurm::OptionSetting& hint, RuleMatches& hits) {
  if (request.has("hint") || !hint.value) return;
  const auto stronger = std::find_if(k_stronger.begin(), k_stronger.end(), [&](auto option) {
    return request.place(option).length > 0 && !agrees(*hint.value, option, request.text(option));
  });
  if (stronger == k_stronger.end() ||
      agrees(*hint.value, "threads-per-core", request.text("threads-per-core")))
    return;
  hits.add(match_of(hint.place, "sbatch", *hint.value, *stronger));
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  // 20.11 has other combinations.
  if (subject.text.find("--hint") == std::string_view::npos || !subject.may_be("21.08-")) return hits;
  for (std::size_t i = 0; i < subject.requests.size() && i < subject.settings.size(); ++i)
    for (const auto& setting : subject.settings[i])
      if (setting.option == "hint" && setting.place.length > 0)
        check_component(subject.requests[i], setting, hits);
  find_in_steps(subject, hits);
  return hits;
}

} // namespace slurm_hint_ignored

Rule rule_slurm_hint_ignored() {
  using namespace slurm_hint_ignored;
  return {
      .id = "slurm/hint-ignored",
      .severity = diag::Severity::warning,
      .title = "--hint without effect",
      .why = "--hint and --cpu-bind, --ntasks-per-core, --threads-per-core or -B "
             "exclude each other. Slurm then ignores --hint and reports it only with "
             "-v: a step with --hint=nomultithread uses both threads of each core.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_hint",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks=8 --time=10
srun --hint=nomultithread --cpu-bind=cores python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks=8 --time=10
srun --threads-per-core=1 --cpu-bind=cores python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
