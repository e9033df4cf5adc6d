// SPDX-License-Identifier: MIT
// Options of srun in their old spelling with underscores.
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_old_srun_option {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !is_own(launch, *step)) continue;
    for (const auto& option : step->options) {
      if (option.place.offset >= subject.text.size()) continue;
      const auto written = subject.text.substr(option.place.offset, 10);
      const bool cpu = written.starts_with("--cpu_bind"), mem = written.starts_with("--mem_bind");
      if (!cpu && !mem) continue;
      const std::string now = cpu ? "--cpu-bind" : "--mem-bind";
      add_match(hits, {{option.place.offset, written.size()},
                       std::string(written) + (mem ? " is not an option of srun any more"
                                                   : " is an old spelling that no manual lists any more"),
                       now,
                       {{option.place.offset, written.size(), now}},
                       mem ? std::optional(diag::Severity::warning) : std::nullopt});
    }
  }
  return hits;
}

} // namespace launch_old_srun_option

Rule rule_launch_old_srun_option() {
  using namespace launch_old_srun_option;
  return {
      .id = "launch/old-srun-option",
      .severity = diag::Severity::note,
      .title = "Option with an underscore",
      .why = "Slurm's options have dashes. srun still takes --cpu_bind; --mem_bind is gone and ends the step "
             "with \"unrecognized option\".",
      .link = "https://slurm.schedmd.com/srun.html#OPT_cpu-bind",
      .bad = {R"(#!/bin/bash
srun --cpu_bind=cores python train.py
)"},
      .good = {R"(#!/bin/bash
srun --cpu-bind=cores python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
