// SPDX-License-Identifier: MIT
// A number of processes per node that does not agree with the node's GPUs.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_process_count {

using model::OptionMeaning;

/// Processes on one node by the agent's options, and the option that states it.
std::optional<long> processes_on_node(const Launch& launch, const LaunchShape& shape, const LaunchShape& job,
                                      const GivenOption*& option) {
  const auto& agent = *launch.agent();
  const auto* each = agent.find(OptionMeaning::ranks_per_node);
  option = each ? each : agent.find_any({OptionMeaning::ranks, OptionMeaning::world});
  // In the text of a step, variables have the step's numbers.
  if (!option || !option->value || (!option->value->known() && launch.command->parent)) return std::nullopt;
  const auto count = number_of(*option->value, job);
  if (each) return count;
  if (!count || !shape.nodes || *count % *shape.nodes != 0) return std::nullopt;
  return *count / *shape.nodes;
}

/// True if the program's words split the model over the GPUs of one process: --tensor-parallel-size,
/// model_parallel=True, device_map.
bool splits_model(const Launch& launch) {
  const auto& words = launch.command->words;
  return std::any_of(words.begin(), words.end(), [](const auto& word) {
    const auto text = util::replace_all(util::to_lower(word.text()), "-", "_");
    return text.find("device_map") != std::string::npos ||
           (text.find("_parallel") != std::string::npos && text.find("data_parallel") == std::string::npos);
  });
}

/// True if the job has one node, also without --nodes if its GPUs are those of each node.
bool has_one_node(const LintContext& subject, const LaunchShape& job) {
  if (job.nodes) return *job.nodes == 1;
  const auto& request = subject.requests;
  return request.size() == 1 && request[0].gpus_per_node() > 0 && !request[0].has("nodes") &&
         !request[0].has("nodelist") && request[0].count("ntasks") < 2;
}

bool is_wrong_count(long processes, long gpus, const Launch& launch) {
  if (processes == gpus || processes < 1) return false;
  return processes > gpus || !splits_model(launch);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    if (!agent || !agent->complete || agent->find(OptionMeaning::no_gpus) ||
        launch.variable("CUDA_VISIBLE_DEVICES") || launch.command->context.background)
      continue;
    auto shape = shape_of(subject, launch);
    const auto job = shape_of_job(subject);
    if (!launch.step() && !has_one_node(subject, job)) continue;
    if (!shape.gpus_per_node || !shape.tasks_per_node || *shape.tasks_per_node != 1) continue;
    const GivenOption* option = nullptr;
    const auto processes = processes_on_node(launch, shape, job, option);
    const auto gpus = *shape.gpus_per_node;
    if (!processes || !is_wrong_count(*processes, gpus, launch)) continue;
    const bool more = *processes > gpus;
    auto fix = more && agent->find(OptionMeaning::ranks_per_node) && shape.gpus_per_node == job.gpus_per_node
                   ? replace_end(subject, option->place, option->value->text(), "$SLURM_GPUS_ON_NODE")
                   : std::vector<Edit>();
    add_match(
        hits,
        {option->place,
         fmt::format("{}{}{} of a node{}", *processes, *processes == 1 ? " process for " : " processes for ",
                     util::counted(gpus, "GPU"),
                     more ? "; NCCL rejects two processes on one GPU" : "; the other GPUs stay idle"),
         more
             ? "request as many GPUs as there are processes, or use one process per GPU ($SLURM_GPUS_ON_NODE)"
             : "use one process per GPU ($SLURM_GPUS_ON_NODE), or request fewer GPUs",
         std::move(fix), more ? std::nullopt : std::optional(diag::Severity::note)});
  }
  return hits;
}

} // namespace launch_process_count

Rule rule_launch_process_count() {
  using namespace launch_process_count;
  return {
      .id = "launch/process-count",
      .severity = diag::Severity::warning,
      .title = "Number of processes differs from the node's GPUs",
      .why =
          "With more processes than GPUs two of them take the same one, and NCCL ends with \"Duplicate GPU "
          "detected\" or \"invalid device ordinal\". With fewer, GPUs that "
          "are paid for stay idle.",
      .link = "https://docs.pytorch.org/docs/stable/elastic/run.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4
torchrun --standalone --nproc_per_node=8 train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4
torchrun --standalone --nproc_per_node=4 train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
