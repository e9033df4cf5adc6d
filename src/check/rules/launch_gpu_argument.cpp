// SPDX-License-Identifier: MIT
// Numbers of GPUs among a program's own arguments that differ from the job's.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_gpu_argument {

constexpr std::array<std::string_view, 13> k_names = {
    "devices", "gpus",     "gpus_per_node",    "n_gpu", "n_gpus",
    "ngpu",    "ngpus",    "ngpus_per_node",   "nproc", "nproc_per_node",
    "num_gpu", "num_gpus", "num_gpus_per_node"};

/// True if the program's --devices are those of Lightning: other programs' devices may be radios or disks.
bool is_trainer(const Link& program) {
  return std::any_of(program.operands.begin(), program.operands.end(), [](const shell::Argument& word) {
    const auto text = word.prefix();
    return text.starts_with("--accelerator") || text.starts_with("--strategy") ||
           text.starts_with("--num_nodes");
  });
}

/// The device that a word names by its number: 1 of "cuda:1".
std::optional<long> device_of(const shell::Argument& word) {
  constexpr std::string_view k_device = "cuda:";
  if (word.pieces.size() != 1 || !word.pieces[0].known) return std::nullopt;
  const std::string_view text = word.pieces[0].text;
  const auto at = text.starts_with(k_device) ? 0 : text.find("=cuda:");
  if (at == std::string_view::npos) return std::nullopt;
  const auto number = util::parse_unsigned(text.substr(at + k_device.size() + (at > 0 ? 1 : 0)));
  return number ? std::optional(static_cast<long>(*number)) : std::nullopt;
}

/// GPUs that the launch's one process can have; nothing if that is not visible.
std::optional<long> gpus_of(const LintContext& subject, const Launch& launch) {
  const auto job = shape_of_job(subject);
  if (!job.nodes || *job.nodes != 1 || launch.agent() || launch.find("hpcml") ||
      !starts_python_file(launch) || subject.requests[0].sharing == slurm::NodeSharing::exclusive ||
      (subject.fits.size() == 1 && subject.fits[0].owns_nodes()))
    return std::nullopt;
  const auto shape = shape_of(subject, launch);
  return shape.tasks_per_node == 1 ? shape.gpus_per_node : std::nullopt;
}

/// Reports a program that uses fewer GPUs than the job has, and is the only one.
void find_fewer(const LintContext& subject, const Launch& launch, const CountArgument& option, long gpus,
                RuleMatches& hits) {
  static constexpr std::array<std::string_view, 3> k_may_be_index = {"devices", "gpus", "nproc"};
  const auto& context = launch.command->context;
  if (option.number < 1 || option.number >= gpus || context.background || context.loop ||
      util::contains(k_may_be_index, std::string_view(option.name)) ||
      std::count_if(subject.launches.begin(), subject.launches.end(), does_work) != 1)
    return;
  hits.add({option.place,
            fmt::format("the program uses {} of {}: the others stay idle", option.number,
                        util::counted(static_cast<unsigned long long>(gpus), "GPU")),
            fmt::format("request {}, or use --{}={}", option.number, option.name, gpus),
            {},
            diag::Severity::note});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.size() != 1) return hits;
  for (const auto& launch : subject.launches) {
    if (!launch.python()) continue;
    const auto gpus = gpus_of(subject, launch);
    if (!gpus || *gpus < 1) continue;
    const auto counted = util::counted(static_cast<unsigned long long>(*gpus), "GPU");
    for (const auto& word : launch.last().operands)
      if (const auto device = device_of(word); device && *device >= *gpus)
        hits.add({word.place,
                  fmt::format("cuda:{} does not exist: the job has {}, numbered from 0", *device, counted),
                  fmt::format("use cuda:{}, or request more GPUs", *gpus - 1)});
    const auto option = find_count_argument(launch.last(), k_names);
    if (!option || (option->name == "devices" && !is_trainer(launch.last()))) continue;
    if (option->number > *gpus)
      hits.add({option->place,
                fmt::format("the program uses {} GPUs, but the job has {}", option->number, counted),
                fmt::format("request {} GPUs, or use --{}={}", option->number, option->name, *gpus)});
    else
      find_fewer(subject, launch, *option, *gpus, hits);
  }
  return hits;
}

} // namespace launch_gpu_argument

Rule rule_launch_gpu_argument() {
  using namespace launch_gpu_argument;
  return {
      .id = "launch/gpu-argument",
      .severity = diag::Severity::warning,
      .title = "Program's number of GPUs differs from the job's",
      .why = "A program that starts a process per GPU by its own option ends with \"invalid device "
             "ordinal\" if the job has fewer. The GPUs of a job are numbered from 0, whatever their numbers "
             "on the node are: with one GPU only cuda:0 exists.",
      .link = "https://slurm.schedmd.com/gres.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=2 --time=10
python train.py --num_gpus 4
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4 --time=10
python train.py --num_gpus 4
)"},
      .find = find,
  };
}

} // namespace hpcml::check
