// SPDX-License-Identifier: MIT
// More ranks on a node than it has GPUs for them.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/hpcml_launch.hpp"
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_more_ranks_than_gpus {

bool has_any(std::string_view text, std::initializer_list<std::string_view> signs) {
  return std::any_of(signs.begin(), signs.end(),
                     [&](auto sign) { return text.find(sign) != std::string_view::npos; });
}

/// Whether the script's tasks are ranks of one training on GPUs, and nothing in it shares them out otherwise.
bool trains_on_gpus(std::string_view text) {
  return has_any(
             text,
             {"MASTER_ADDR", "MASTER_PORT", "NCCL",    "RCCL",      "LOCAL_RANK",         "WORLD_SIZE",
              "ddp",         "DDP",         "fsdp",    "FSDP",      "init_process_group", "hpcml launch",
              "deepspeed",   "jax",         "JAX",     "lightning", "Lightning",          "trainer.devices",
              "--devices",   "--num_nodes", "horovod", "hvd"}) &&
         !has_any(text, {"cuda-mps", "CUDA_MPS", "gloo", "CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES=",
                         "HIP_VISIBLE_DEVICES=", "NCCL_MULTI_RANK_GPU_ENABLE"});
}

/// Whether the program's name says that it trains; data is prepared by ranks without GPUs.
bool is_training(const Link& python) {
  auto name = python.operands.empty() ? std::string() : python.operands[0].text();
  name = util::base_name(name);
  return has_any(name, {"train", "ddp", "fsdp", "main", "tune", "dist", "run"}) &&
         !has_any(name, {"stage", "prep", "data", "convert", "download", "token", "split"});
}

/// True if the job asks for MIG instances: "h100_1g.10gb".
bool uses_instances(const slurm::JobOptions& request) {
  return std::any_of(request.gres.begin(), request.gres.end(), [](const auto& option) {
    return std::any_of(option.second.begin(), option.second.end(), [](const slurm::GresItem& item) {
      const auto at = item.type.find("g.");
      return at != std::string::npos && at > 0 && item.type[at - 1] >= '0' && item.type[at - 1] <= '9' &&
             item.type.find("gb", at) != std::string::npos;
    });
  });
}

/// GPUs of the whole job where they cannot be shared out evenly: "--nodes=2 --gpus=6".
std::optional<long> uneven_gpus(const LintContext& subject, const LaunchShape& shape) {
  const auto gpus = static_cast<long>(subject.requests[0].gpus("gpus"));
  return gpus > 0 && !shape.gpus_per_node ? std::optional(gpus) : std::nullopt;
}

/// What is wrong with the ranks of a step; nothing where each has its GPU or that is not visible.
std::optional<RuleMatch> fault_of(const LintContext& subject, const Launch& launch,
                                  const LaunchShape& shape) {
  const auto* step = launch.step();
  const auto place = step ? step->place : launch.find("hpcml")->place;
  if (shape.several_tasks_per_node() && uses_instances(subject.requests[0]))
    return RuleMatch{place,
                     "the ranks run on MIG instances: NCCL does not connect those of one GPU, and each "
                     "process sees one instance only",
                     "request whole GPUs, or use one rank"};
  if (const auto gpus = uneven_gpus(subject, shape); gpus && step && shape.tasks && *shape.tasks > *gpus)
    return RuleMatch{place,
                     fmt::format("{} ranks exceed the job's {}: NCCL allows one rank per GPU", *shape.tasks,
                                 util::counted(static_cast<unsigned long long>(*gpus), "GPU")),
                     "request as many GPUs as ranks, the same number on each node: --gpus-per-node"};
  if (!shape.tasks_per_node || !shape.gpus_per_node || *shape.gpus_per_node < 1) return std::nullopt;
  const auto ranks = *shape.tasks_per_node * ranks_of_own_launch(launch, shape).value_or(1);
  const auto gpus = *shape.gpus_per_node;
  if (ranks <= gpus) return std::nullopt;
  return RuleMatch{
      place,
      fmt::format("{} ranks per node exceed its GPUs ({}): NCCL allows one rank per GPU", ranks,
                  util::counted(gpus, "GPU")),
      fmt::format("request as many GPUs as ranks, or use {} per node", util::counted(gpus, "task"))};
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    const auto* python = launch.python();
    const bool by_hpcml = launch.find("hpcml") != nullptr;
    if ((!step && !by_hpcml) || launch.agent() || is_utility(launch) || (!python && !by_hpcml) ||
        launch.command->context.substitution)
      continue;
    if (!by_hpcml && (!python->module.empty() || !is_training(*python))) continue;
    auto fault = fault_of(subject, launch, shape_of(subject, launch));
    if (!fault) continue;
    if (hits.empty() && !trains_on_gpus(subject.text)) return {}; // reads all of the text
    add_match(hits, std::move(*fault));
  }
  return hits;
}

} // namespace launch_more_ranks_than_gpus

Rule rule_launch_more_ranks_than_gpus() {
  using namespace launch_more_ranks_than_gpus;
  return {
      .id = "launch/more-ranks-than-gpus",
      .severity = diag::Severity::warning,
      .title = "More ranks than GPUs",
      .why = "A rank takes the GPU of its local number: the ranks that have none end with \"invalid device "
             "ordinal\", and where two take the same one NCCL ends with \"Duplicate GPU detected\".",
      .link = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/communicators.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=4 --gpus-per-node=2
export MASTER_ADDR=$(hostname)
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=4 --gpus-per-node=4
export MASTER_ADDR=$(hostname)
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
