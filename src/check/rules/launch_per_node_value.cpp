// SPDX-License-Identifier: MIT
// Values that all nodes must agree on and each node makes for itself.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_per_node_value {

/// What differs from node to node in a text that each of them expands; empty where nothing does.
std::string_view own_value_in(std::string_view text) {
  if (text.find("scontrol") != std::string_view::npos || text.find("srun") != std::string_view::npos)
    return {};
  for (const std::string_view part : {"$(hostname", "`hostname", "$(uname -n", "$(shuf", "$(date", "$$"})
    if (text.find(part) != std::string_view::npos) return text;
  for (const std::string_view name : {"RANDOM", "HOSTNAME", "SLURMD_NODENAME"})
    if (reads(text, name)) return text;
  return {};
}

/// Whether the batch shell has expanded the same text already: then it is one value for all.
bool is_expanded_outside(const LintContext& subject, const Link& step, std::string_view text) {
  for (const auto& launch : subject.launches)
    if (launch.step() && launch.step()->place.offset == step.place.offset && is_own(launch, *launch.step()))
      for (const auto& word : launch.command->words)
        for (const auto& piece : word.pieces)
          if (!piece.known && piece.text == text) return true;
  return false;
}

/// Whether the value was set in the step, not before it.
bool is_set_inside(const LintContext& subject, const Link& step, std::string_view name,
                   const shell::Argument& value) {
  for (const auto& launch : subject.launches)
    if (launch.step() && launch.step()->place.offset == step.place.offset && is_own(launch, *launch.step())) {
      const auto* outside = launch.variable(name);
      return !outside || outside->place.offset != value.place.offset;
    }
  return false;
}

void check_value(const LintContext& subject, const Link& step, const shell::Argument& value,
                 diag::TextRange place, std::string_view what, RuleMatches& hits) {
  for (const auto& piece : value.pieces) {
    if (piece.known || own_value_in(piece.text).empty() || is_expanded_outside(subject, step, piece.text))
      continue;
    add_match(hits,
              {place,
               fmt::format("each node expands {} separately, but {} must be the same on all nodes",
                           piece.text, what),
               fmt::format(
                   "set it once before {}: from $SLURM_JOB_ID, and the first host of scontrol show hostnames",
                   step.program)});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || is_own(launch, *step) || (!launch.agent() && !launch.python()) ||
        !shape_of(subject, launch).several_nodes)
      continue;
    if (const auto* agent = launch.agent()) {
      for (const auto& option : agent->options)
        if (option.value &&
            (option.name == "rdzv_id" || option.name == "rdzv-id" || option.name == "rdzv_endpoint" ||
             option.name == "rdzv-endpoint" || option.name == "master_addr" || option.name == "master-addr" ||
             option.name == "master_port" || option.name == "master-port" ||
             option.name == "main_process_ip" || option.name == "main_process_port"))
          check_value(subject, *step, *option.value, option.place, "--" + option.name, hits);
      continue;
    }
    for (const std::string_view name : {"MASTER_ADDR", "MASTER_PORT"})
      if (const auto* value = launch.variable(name); value && is_set_inside(subject, *step, name, *value))
        check_value(subject, *step, *value, value->place, name, hits);
  }
  return hits;
}

} // namespace launch_per_node_value

Rule rule_launch_per_node_value() {
  using namespace launch_per_node_value;
  return {
      .id = "launch/per-node-value",
      .severity = diag::Severity::warning,
      .title = "Rendezvous endpoint that differs between nodes",
      .why = "Host, port and id of the rendezvous must be the same for all. In single quotes $RANDOM, $$ and "
             "$(hostname) are expanded on every node: the nodes "
             "wait for each other at different places until the time limit.",
      .link = "https://docs.pytorch.org/docs/stable/elastic/run.html#note-on-rendezvous-backend",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2
srun bash -c 'torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_id=$RANDOM --rdzv_endpoint=$H:$P train.py'
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
srun torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_id=$RANDOM --rdzv_endpoint=$(hostname):$P train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
