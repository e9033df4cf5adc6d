// SPDX-License-Identifier: MIT
// Steps of a part of the job that run one after the other although the script waits for them.
#include <algorithm>
#include <span>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace launch_serial_steps {

/// True if something may run in the background.
bool may_have_background(const LintContext& subject) {
  return !subject.listing.complete || !subject.unread.empty() ||
         std::any_of(subject.listing.commands.begin(), subject.listing.commands.end(),
                     [](const shell::Command& command) {
                       const auto name = program_name(command);
                       return !command.program || command.context.background || command.context.inexact ||
                              name == "source" || name == "." || name == "coproc" || name == "eval";
                     });
}

/// True if the command waits for all processes, and the script comes to it in any case.
bool waits_for_all(const shell::Command& command) {
  const auto& context = command.context;
  return is_program(command, "wait") && command.arguments().empty() && !command.parent &&
         !context.condition && !context.loop && !context.uncalled && !context.unreached && !context.trap;
}

/// The commands up to the script's first `wait`, that one last; none if it waits for nothing.
std::span<const shell::Command> commands_to_wait(const LintContext& subject) {
  const std::span commands = subject.listing.commands;
  const auto wait = std::find_if(commands.begin(), commands.end(), waits_for_all);
  return wait == commands.end() ? commands.first(0) : commands.first(wait - commands.begin() + 1);
}

/// True if the step asks for a part of the job's tasks or nodes.
bool asks_for_part(const LintContext& subject, const Launch& launch, const Link& step) {
  const auto job = shape_of_job(subject);
  const auto shape = shape_of(subject, launch);
  if (!step.complete || !job.tasks) return false;
  const bool fewer = shape.tasks && *shape.tasks < *job.tasks;
  return fewer && find_any(step, {"ntasks", "nodes", "exclusive", "exact"});
}

/// True if the launch is a step of the script itself that leaves some of the job's tasks idle until it ends.
bool is_partial_step(const LintContext& subject, const Launch& launch) {
  const auto* step = launch.step();
  const auto& context = launch.command->context;
  return step && step->program == "srun" && is_own(launch, *step) && !context.substitution &&
         !context.pipeline && asks_for_part(subject, launch, *step);
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1 || subject.text.find("wait") == std::string_view::npos) return {};
  const auto commands = commands_to_wait(subject);
  if (commands.empty() || may_have_background(subject)) return {};
  const Launch* first = nullptr;
  std::size_t count = 0;
  for (const auto& launch : subject.launches) {
    if (launch.command > &commands.back() || !is_partial_step(subject, launch)) continue;
    if (!first) first = &launch;
    count += launch.command->context.loop ? 2 : 1;
  }
  if (!first || count < 2) return {};
  return {{first->step()->place,
           "this step and the next ones run one after the other: nothing before wait is in the background",
           "end the srun line with &, so that steps run side by side until wait"}};
}

} // namespace launch_serial_steps

Rule rule_launch_serial_steps() {
  using namespace launch_serial_steps;
  return {
      .id = "launch/serial-steps",
      .severity = diag::Severity::warning,
      .title = "Steps in turn, and wait without a process",
      .why = "wait returns at once if no process is in the background. Steps that use a part of the job were "
             "to run side by side: without & each has to end before the next one starts, and the other tasks "
             "of the job stay idle.",
      .link = "https://slurm.schedmd.com/srun.html#SECTION_EXAMPLES",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=4 --time=10
for seed in 1 2 3 4; do
  srun --ntasks=1 --exact python train.py --seed $seed
done
wait
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=4 --time=10
for seed in 1 2 3 4; do
  srun --ntasks=1 --exact --mem=4G python train.py --seed $seed &
done
wait
)"},
      .find = find,
  };
}

} // namespace hpcml::check
