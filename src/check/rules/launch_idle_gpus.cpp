// SPDX-License-Identifier: MIT
// One plain python on a node with several GPUs.
#include <algorithm>
#include <fmt/format.h>

#include "check/hpcml_launch.hpp"
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_idle_gpus {

bool has_any(const std::string& text, std::initializer_list<std::string_view> signs) {
  return std::any_of(signs.begin(), signs.end(),
                     [&](auto sign) { return text.find(sign) != std::string::npos; });
}

/// Whether the program is a training by its name: what prepares data, evaluates or serves uses GPUs in its
/// own ways.
bool trains(const std::string& path) {
  const auto name = util::to_lower(util::base_name(path));
  return has_any(name, {"train", "tune", "tuning", "fit",   "main",  "cnn",      "gan",
                        "gpt",   "bert", "resnet", "mnist", "cifar", "imagenet", "sft",
                        "grpo",  "dpo",  "ppo",    "lora",  "unet",  "vae",      "distill"}) &&
         !has_any(name, {"fairseq",   "merge",    "predict", "spawn", "multi",   "parallel", "launch",
                         "lightning", "vllm",     "ray",     "ddp",   "distrib", "retriev",  "prepare",
                         "process",   "download", "convert", "eval",  "test",    "data"});
}

/// The link that is a python program: python, or a file that `uv run` starts.
const Link* python_of(const Launch& launch) {
  if (const auto* python = launch.python()) return python;
  return launch.find("uv") && launch.last().program.ends_with(".py") ? &launch.last() : nullptr;
}

/// The file that python runs, or the module of `python -m`; nothing if that is not known.
std::optional<std::string> program_of(const Launch& launch, const Link& python) {
  if (!python.module.empty()) return python.module.substr(python.module.rfind('.') + 1);
  if (python.program.ends_with(".py")) return python.program;
  if (!starts_python_file(launch) || !python.operands[0].known()) return std::nullopt;
  return python.operands[0].text();
}

/// Whether its words or the script's variables say that it uses several GPUs by itself.
bool starts_its_own(const Launch& launch, const Link& python) {
  const auto is_gpu_option = [](const shell::Argument& word) {
    return has_any(
        util::to_lower(word.text()),
        {"distributed", "spawn",      "device_map", "device-map", "accelerat", "paralleli",
         "parallel",    "ngpu",       "n_gpu",      "n-gpu",      "num_gpu",   "num-gpu",
         "--gpus",      "devices",    "multi",      "strategy",   "fsdp",      "deepspeed",
         "world_size",  "world-size", "ddp",        "nproc",      "0,1",       "num_workers_per_node",
         "num_nodes",   "--nodes",    "trainer.",   "ray"});
  };
  // The first operand of python is the file.
  const bool names_file = python.module.empty() && !python.program.ends_with(".py");
  if (std::any_of(python.operands.begin() + (names_file ? 1 : 0), python.operands.end(), is_gpu_option))
    return true;
  // A script that names several GPUs for one program, or none, knows which it uses.
  for (const auto* name : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"})
    if (const auto* value = launch.variable(name);
        value && (value->text().empty() || value->text().find(',') != std::string::npos))
      return true;
  for (const auto* name :
       {"TF_CONFIG", "WORLD_SIZE", "RAY_ADDRESS", "DEEPSPEED_CONFIG", "MASTER_ADDR", "MASTER_PORT"})
    if (launch.variable(name)) return true;
  return false;
}

/// True if the script names a library that uses all GPUs of a process.
bool names_such_library(const LintContext& subject) {
  const auto text = util::to_lower(std::string(subject.text.substr(subject.header.end)));
  return has_any(text, {"tensorflow", "tf2", "mirroredstrategy", "lightning", "dataparallel", "ray start"});
}

/// True if the program has the GPUs of its node for itself, one run at a time.
bool runs_alone(const shell::CommandContext& context) {
  return !context.background && !context.loop && !context.substitution;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const bool elsewhere = std::any_of(subject.launches.begin(), subject.launches.end(),
                                     [](const Launch& launch) { return launch.step() || launch.agent(); });
  for (const auto& launch : subject.launches) {
    const auto* python = python_of(launch);
    if (!python || launch.agent() || !python->complete || !runs_alone(launch.command->context)) continue;
    const auto program = program_of(launch, *python);
    if (!program || !trains(*program) || starts_its_own(launch, *python)) continue;
    const auto shape = shape_of(subject, launch);
    if (!shape.gpus_per_node || !shape.tasks_per_node || *shape.tasks_per_node != 1 ||
        *shape.gpus_per_node < 2)
      continue;
    // An agent starts the requested number of ranks, outside a step one for each GPU.
    if (launch.find("hpcml") && ranks_of_own_launch(launch, shape) != 1) continue;
    // A step elsewhere does the work; this one prepares it.
    if (!launch.step() && elsewhere) continue;
    if (hits.empty() && names_such_library(subject)) return {}; // reads all of the text
    add_match(hits, {python->place,
                     fmt::format("one process has {} GPUs: if its program does not spread the work itself "
                                 "(DataParallel, mp.spawn, device_map), the others stay idle",
                                 *shape.gpus_per_node),
                     "if it uses one GPU, request one, or start a process per GPU: torchrun "
                     "--nproc_per_node, or srun with --ntasks-per-node"});
  }
  return hits;
}

} // namespace launch_idle_gpus

Rule rule_launch_idle_gpus() {
  using namespace launch_idle_gpus;
  return {
      .id = "launch/idle-gpus",
      .severity = diag::Severity::note,
      .title = "One process for several GPUs",
      .why = "DistributedDataParallel needs one process per GPU. A single python uses one GPU unless its "
             "program starts others itself (mp.spawn, DataParallel, device_map); what is not used counts "
             "against the project anyway.",
      .link = "https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=1
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
