// SPDX-License-Identifier: MIT
// Lightning's number of devices that differs from the number of tasks.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_lightning_tasks {

/// The number that the program gets for an option of Lightning's trainer: "--trainer.devices 4",
/// "trainer.devices=4", "--gpus=4".
std::optional<long> trainer_number(const Link& python, std::string_view name) {
  const auto& words = python.operands;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i].known()) continue;
    auto text = words[i].text();
    const auto equals = text.find('=');
    const auto key = text.substr(0, equals);
    std::string_view plain = key;
    plain.remove_prefix(std::min(plain.find_first_not_of("-+"), plain.size()));
    if (plain.starts_with("trainer.")) plain.remove_prefix(8);
    if (plain != name) continue;
    if (equals == std::string::npos) {
      if (i + 1 >= words.size() || !words[i + 1].known()) return std::nullopt;
      text = words[i + 1].text();
    } else
      text = text.substr(equals + 1);
    const auto number = util::parse_unsigned(text);
    return number ? std::optional(static_cast<long>(*number)) : std::nullopt;
  }
  return std::nullopt;
}

/// True if the options are those of a Lightning trainer: its number of nodes next to its devices. Programs
/// that start their own processes also have the number of the node.
bool uses_lightning(const Link& python) {
  const auto numbers_nodes = [](const shell::Argument& word) {
    const auto text = word.text();
    return text.find("rank") != std::string::npos || text.find("dist_url") != std::string::npos ||
           text.find("dist-url") != std::string::npos;
  };
  return trainer_number(python, "num_nodes") &&
         std::none_of(python.operands.begin(), python.operands.end(), numbers_nodes);
}

/// Whether the task is a rank of Lightning's, which no launcher and no agent starts.
bool is_lightning_task(const Launch& launch) {
  const auto* step = launch.step();
  return step && step->program == "srun" && launch.python() && !launch.agent() && !launch.find("hpcml") &&
         uses_lightning(*launch.python());
}

/// Whether the job has SLURM_NTASKS without SLURM_NTASKS_PER_NODE.
bool lacks_tasks_per_node(const slurm::JobOptions& request, const Link& step) {
  return request.has("ntasks") && !request.has("ntasks-per-node") && !step.find("ntasks-per-node");
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.size() != 1 || subject.text.find("num_nodes") == std::string_view::npos) return hits;
  const auto& request = subject.requests[0];
  for (const auto& launch : subject.launches) {
    if (!is_lightning_task(launch)) continue;
    const auto& python = *launch.python();
    const auto devices = trainer_number(python, "devices");
    const auto count = devices ? devices : trainer_number(python, "gpus");
    const auto shape = shape_of(subject, launch);
    if (!count || *count < 1 || !shape.tasks) continue;
    const auto hint = fmt::format("use #SBATCH --ntasks-per-node={}", *count);
    if (shape.tasks_per_node && *shape.tasks_per_node != *count)
      add_match(hits,
                {python.place,
                 fmt::format("the program uses {} per node, but srun starts {} there: Lightning "
                             "starts no processes itself under srun",
                             util::counted(static_cast<unsigned long long>(*count), "device"),
                             util::counted(static_cast<unsigned long long>(*shape.tasks_per_node), "task")),
                 hint});
    else if (*shape.tasks > 1 && lacks_tasks_per_node(request, *launch.step()))
      add_match(hits, {request.place("ntasks"),
                       "Lightning stops if SLURM_NTASKS is set without SLURM_NTASKS_PER_NODE", hint});
  }
  return hits;
}

} // namespace launch_lightning_tasks

Rule rule_launch_lightning_tasks() {
  using namespace launch_lightning_tasks;
  return {
      .id = "launch/lightning-tasks",
      .severity = diag::Severity::warning,
      .title = "Lightning's devices differ from the tasks",
      .why = "Under srun, Lightning takes each task for one rank and starts no others. If devices and "
             "--ntasks-per-node differ, it stops or waits for ranks that are never started. It also stops "
             "if the job has --ntasks without --ntasks-per-node.",
      .link = "https://lightning.ai/docs/pytorch/stable/clouds/cluster_advanced.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=4
srun python train.py fit --trainer.devices 4 --trainer.num_nodes 2
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --gpus-per-node=4
srun python train.py fit --trainer.devices 4 --trainer.num_nodes 2
)"},
      .find = find,
  };
}

} // namespace hpcml::check
