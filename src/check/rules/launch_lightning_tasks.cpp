// SPDX-License-Identifier: MIT
// Lightning's number of devices that differs from the number of tasks.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_lightning_tasks {

/// An option of Lightning's trainer: "--trainer.devices 4", "trainer.devices=4", "--gpus=4".
struct TrainerOption {
  bool is_set = false;
  bool prefixed = false; ///< "trainer." is before its name
  std::optional<long> number;
};

TrainerOption trainer_option(const Link& program, std::string_view name, const LaunchShape& shape) {
  const auto& words = program.operands;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto text = words[i].prefix();
    const auto equals = text.find('=');
    std::string_view key = std::string_view(text).substr(0, equals);
    key.remove_prefix(std::min(key.find_first_not_of("-+"), key.size()));
    TrainerOption option{true, key.starts_with("trainer."), std::nullopt};
    if (option.prefixed) key.remove_prefix(8);
    if (key != name) continue;
    if (equals == std::string::npos) {
      if (i + 1 < words.size()) option.number = number_of(words[i + 1], shape);
    } else if (words[i].known()) {
      const auto number = util::parse_unsigned(text.substr(equals + 1));
      if (number) option.number = static_cast<long>(*number);
    }
    return option;
  }
  return {};
}

/// The devices per node of a task that is a rank of Lightning's; nothing of other programs. The trainer's
/// options begin with "trainer.", or its number of nodes is next to its devices. Programs that start their
/// own processes also have the number of the node.
std::optional<long> devices_of(const Launch& launch, const LaunchShape& shape) {
  const auto& program = launch.last();
  auto devices = trainer_option(program, "devices", shape);
  if (!devices.is_set) devices = trainer_option(program, "gpus", shape);
  if (!devices.number || (!devices.prefixed && !trainer_option(program, "num_nodes", shape).is_set))
    return std::nullopt;
  const auto numbers_nodes = [](const shell::Argument& word) {
    const auto text = word.text();
    return text.find("rank") != std::string::npos || text.find("dist_url") != std::string::npos ||
           text.find("dist-url") != std::string::npos;
  };
  const bool starts_ranks = std::any_of(program.operands.begin(), program.operands.end(), numbers_nodes);
  return starts_ranks ? std::nullopt : devices.number;
}

/// Whether srun starts the program itself.
bool is_task(const Launch& launch) {
  const auto* step = launch.step();
  return step && step->program == "srun" && &launch.last() != step && !launch.agent() &&
         !launch.find("hpcml");
}

/// Whether the job has SLURM_NTASKS without SLURM_NTASKS_PER_NODE.
bool lacks_tasks_per_node(const slurm::JobOptions& request, const Link& step) {
  return request.has("ntasks") && !request.has("ntasks-per-node") && !step.find("ntasks-per-node");
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.size() != 1) return hits;
  const auto& request = subject.requests[0];
  for (const auto& launch : subject.launches) {
    if (!is_task(launch)) continue;
    const auto shape = shape_of(subject, launch);
    const auto count = devices_of(launch, shape);
    if (!count || *count < 1 || !shape.tasks) continue;
    const auto place = launch.last().place;
    const auto hint = fmt::format("use #SBATCH --ntasks-per-node={}", *count);
    if (shape.tasks_per_node && *shape.tasks_per_node != *count)
      add_match(hits,
                {place,
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
