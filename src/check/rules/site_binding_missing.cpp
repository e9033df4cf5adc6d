// SPDX-License-Identifier: MIT
// Ranks without a binding, on a site whose documents give the masks.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/masks.hpp"
#include "check/site_rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace site_binding_missing {

/// Whether something in the script binds, in its own way.
bool binds_otherwise(std::string_view text) {
  static constexpr std::string_view c_signs[] = {"cpu-bind", "cpu_bind", "CPU_BIND", "taskset",  "numactl",
                                                 "affinity", "hwloc-",   "mask_cpu", "GOMP_CPU", "map_cpu"};
  return std::any_of(std::begin(c_signs), std::end(c_signs),
                     [&](auto sign) { return text.find(sign) != std::string_view::npos; });
}

/// The node that the job has to itself with all its GPUs, where it is known how they are attached.
const model::NodeType* whole_node(const LintContext& subject) {
  if (!subject.site || subject.site->binding.value != model::WholeNodeBinder::masks) return nullptr;
  const auto* node = only_node(subject);
  if (!node || !node->gpu || node->gpu->places.empty()) return nullptr;
  const auto& fit = subject.fits[0];
  const bool whole =
      subject.demands[0].gpus_per_node == node->gpu->per_node && (fit.owns_nodes() || fit.facts.whole_nodes);
  return whole ? node : nullptr;
}

/// The node with several NUMA domains that the job has to itself with all its GPUs.
const model::NodeType* numa_node(const LintContext& subject) {
  const auto* node = only_node(subject);
  if (!node || !node->gpu || node->gpu->places.size() < 2) return nullptr;
  const auto& fit = subject.fits[0];
  const bool whole =
      fit.owns_nodes() || fit.facts.whole_nodes || subject.demands[0].gpus_per_node == node->gpu->per_node;
  return whole ? node : nullptr;
}

/// The step's --cpu-bind that takes the binding away.
const GivenOption* unbinding_option(const Launch& launch) {
  const auto* step = launch.step();
  const auto* bind = step && step->program == "srun" ? step->find("cpu-bind") : nullptr;
  if (!bind || !bind->value || !bind->value->known()) return nullptr;
  const auto modes = util::split(bind->value->text(), ',');
  return util::contains(modes, "none") || util::contains(modes, "no") ? bind : nullptr;
}

/// Steps of one rank per GPU whose --cpu-bind takes the binding away.
void find_unbound(const LintContext& subject, RuleMatches& hits) {
  const auto* node = numa_node(subject);
  if (!node) return;
  for (const std::string_view binder : {"taskset", "numactl", "hwloc-", "hpcml", "HPCML"})
    if (subject.text.find(binder) != std::string_view::npos) return;
  for (const auto& launch : subject.launches) {
    const auto* bind = launch.agent() || is_utility(launch) ? nullptr : unbinding_option(launch);
    if (!bind) continue;
    const auto shape = shape_of(subject, launch);
    if (!shape.tasks_per_node || *shape.tasks_per_node != static_cast<long>(node->gpu->per_node)) continue;
    hits.add({bind->place, "--cpu-bind=none lets each rank move over the whole node, away from its GPU",
              cite("remove it: srun then binds each rank to its CPUs", subject.site->binding.origin)});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  find_unbound(subject, hits);
  const auto* node = whole_node(subject);
  if (!node || binds_otherwise(subject.text)) return hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !step->complete || launch.agent() || launch.find("hpcml") ||
        is_utility(launch) || launch.command->context.substitution ||
        !(launch.python() || launch.container()))
      continue;
    const auto shape = shape_of(subject, launch);
    if (!shape.tasks_per_node || *shape.tasks_per_node != static_cast<long>(node->gpu->per_node)) continue;
    hits.add({step->place, "nothing binds the ranks to the cores near their GPUs",
              cite(fmt::format("srun --cpu-bind=mask_cpu:…, the masks by: hpcml affinity --site "
                               "{}; or hpcml launch before the program",
                               subject.site->id),
                   subject.site->binding.origin)});
  }
  return hits;
}

} // namespace site_binding_missing

Rule rule_site_binding_missing() {
  using namespace site_binding_missing;
  return {
      .id = "site/binding-missing",
      .severity = diag::Severity::note,
      .title = "Missing binding",
      .why =
          "On nodes whose GPUs hang on certain cores, in another order than their numbers, Slurm's own order "
          "puts most ranks far from their GPU: copies between host and device and the network are slower.",
      .link = "https://docs.lumi-supercomputer.eu/runjobs/scheduled-jobs/distribution-binding/",
      .bad = {R"(#!/bin/bash
#SBATCH -A project_465000001
#SBATCH -p standard-g -N1 -t 10
#SBATCH --gpus-per-node=8 --ntasks-per-node=8 --cpus-per-task=7
srun python train.py
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH -A project_465000001
#SBATCH -p standard-g -N1 -t 10
#SBATCH --gpus-per-node=8 --ntasks-per-node=8
srun --cpu-bind=$MASKS python train.py
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
