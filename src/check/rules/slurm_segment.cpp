// SPDX-License-Identifier: MIT
// Segments that do not add up to the job's nodes.
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_segment {

RuleMatches find(const LintContext& subject) {
  const auto* setting = subject.directive("segment");
  const auto nodes = shape_of_job(subject).nodes;
  if (!setting || !setting->value || !nodes) return {};
  const auto size = util::parse_unsigned(*setting->value);
  if (!size || *size == 0 || *size > 65535) return {};
  const auto segment = static_cast<long>(*size);
  if (*nodes <= segment || *nodes % segment == 0) return {}; // of fewer nodes Slurm ignores it
  return {{setting->place, fmt::format("{} nodes cannot be divided into segments of {}", *nodes, *size),
           "use a number of nodes that is a multiple of --segment"}};
}

} // namespace slurm_segment

Rule rule_slurm_segment() {
  using namespace slurm_segment;
  return {
      .id = "slurm/segment",
      .severity = diag::Severity::warning,
      .title = "Segments that do not divide the nodes",
      .why = "On clusters with a block topology (NVLink racks), --segment cuts the job into groups of that "
             "many nodes. A larger job whose nodes are not a multiple of it is never started.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_segment",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=18 --segment=16
srun python train.py
)",
              "", "24.11"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=32 --segment=16
srun python train.py
)",
               "", "24.11"},
      .find = find,
  };
}

} // namespace hpcml::check
