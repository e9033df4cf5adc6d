// SPDX-License-Identifier: MIT
// Steps in the background that wait for each other.
#include <algorithm>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_sequential_steps {

/// True if the step takes only the CPUs that it requests, or shares its nodes with other steps.
bool requests_part(const LintContext& subject, const Launch& launch, const Link& step) {
  if (!step.complete ||
      find_any(step, {"overlap", "exact", "exclusive", "cpus-per-task", "cpus-per-gpu", "gpus-per-task",
                      "tres-per-task", "het-group", "jobid"}) ||
      launch.variable("SLURM_OVERLAP") || launch.variable("SLURM_EXACT") ||
      launch.variable("SRUN_CPUS_PER_TASK"))
    return true;
  // From 23.11 on srun takes the job's CPUs of a task as if it were its own option, which implies --exact.
  return subject.requests[0].has("cpus-per-task") &&
         (find_any(step, {"mem", "mem-per-cpu", "mem-per-gpu", "gpus", "gpus-per-node", "gres"}) ||
          launch.variable("SLURM_MEM_PER_NODE") || launch.variable("SLURM_MEM_PER_CPU"));
}

/// True if the step may run on some of the job's nodes only.
bool may_be_elsewhere(const LintContext& subject, const Launch& launch, const Link& step) {
  if (find_any(step, {"nodelist", "relative", "exclude", "nodefile"})) return true;
  const auto job = shape_of_job(subject);
  const auto shape = shape_of(subject, launch);
  return !job.nodes || !shape.nodes || *shape.nodes < *job.nodes;
}

/// A step of the script itself that uses all resources of its nodes.
struct WholeStep {
  const Launch* launch = nullptr;
  const Link* step = nullptr;
  bool elsewhere = false; ///< it may run on some of the job's nodes only
};

/// Returns the steps that use all resources of their nodes, in the order of the script.
std::vector<WholeStep> whole_steps(const LintContext& subject) {
  constexpr std::size_t k_most_steps = 500; // each is compared with those before it
  std::vector<WholeStep> steps;
  for (const auto& launch : subject.launches) {
    if (steps.size() == k_most_steps) break;
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !is_own(launch, *step) || requests_part(subject, launch, *step) ||
        (!steps.empty() && steps.back().step->place.offset == step->place.offset))
      continue;
    steps.push_back({&launch, step, may_be_elsewhere(subject, launch, *step)});
  }
  return steps;
}

/// The words of --nodelist as they are written; empty if the step has none.
std::string nodes_of(const Link& step) {
  const auto* list = step.find("nodelist");
  return list && list->value ? list->value->text() : std::string();
}

/// True if both steps run on the same nodes as far as the script shows it.
bool share_nodes(const WholeStep& a, const WholeStep& b) {
  if (!a.elsewhere && !b.elsewhere) return true;
  const auto nodes = nodes_of(*a.step);
  return !nodes.empty() && nodes == nodes_of(*b.step);
}

/// True if the script waits for its background steps between the places.
bool waits_between(const LintContext& subject, std::size_t from, std::size_t to) {
  return std::any_of(
      subject.listing.commands.begin(), subject.listing.commands.end(), [&](const auto& command) {
        return command.name() == "wait" && command.place.offset > from && command.place.offset < to;
      });
}

/// True if the step cannot start while the background step runs. One that a trap starts comes last.
bool waits_for(const LintContext& subject, const WholeStep& own, const WholeStep& earlier) {
  const auto& context = own.launch->command->context;
  if (!earlier.launch->command->context.background || !share_nodes(own, earlier)) return false;
  if (!context.background && is_tool(*earlier.launch)) return false; // it ends soon
  const auto from = earlier.step->place.offset;
  const auto to = context.trap ? subject.text.size() : own.step->place.offset;
  return from < to && from != own.step->place.offset && !waits_between(subject, from, to);
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  const auto steps = whole_steps(subject);
  for (const auto& own : steps) {
    const auto& context = own.launch->command->context;
    const bool in_loop = context.background && context.loop && !own.elsewhere;
    if (!in_loop && std::none_of(steps.begin(), steps.end(),
                                 [&](const auto& earlier) { return waits_for(subject, own, earlier); }))
      continue;
    return {{own.step->place, "this step waits for one in the background: srun without --exact uses all CPUs",
             "add to each step its resources: srun --exact --ntasks=… --cpus-per-task=… --mem=… (GPUs: "
             "--gpus-per-node=…), or use --overlap to share them"}};
  }
  return {};
}

} // namespace launch_sequential_steps

Rule rule_launch_sequential_steps() {
  using namespace launch_sequential_steps;
  return {
      .id = "launch/sequential-steps",
      .severity = diag::Severity::warning,
      .title = "Step that waits for one in the background",
      .why = "A step takes all CPUs of the job on its nodes unless it has --exact (or -c, which implies it), "
             "also with --mem and --gres, and all memory without --mem. The next "
             "one waits: \"step creation temporarily disabled, retrying\", and what was to run side by side "
             "runs in turn. A client that waits for a server in the background never starts.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_exact",
      .bad = {R"(#!/bin/bash
#SBATCH -N1 -n4
srun -n1 python a.py &
srun -n1 python b.py &
wait
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1 -n4
srun -n1 --exact --mem=4G python a.py &
srun -n1 --exact --mem=4G python b.py &
wait
)"},
      .find = find,
  };
}

} // namespace hpcml::check
