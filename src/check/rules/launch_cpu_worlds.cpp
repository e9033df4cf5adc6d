// SPDX-License-Identifier: MIT
// An agent whose options exclude GPUs, and which starts one process on each node that joins no other.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_cpu_worlds {

using model::OptionMeaning;

/// The value of a key of a configuration, "distributed_type: MULTI_CPU"; empty if it has none.
std::string config_value(std::string_view text, std::string_view key) {
  for (const auto& line : util::split(std::string(text), '\n')) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') continue;
    auto value = line.substr(key.size() + 1);
    value = std::string(util::trim(std::string_view(value).substr(0, value.find(" #"))));
    std::erase_if(value, [](char c) { return c == '\'' || c == '"'; });
    return value;
  }
  return {};
}

bool is_several(const std::string& number) {
  const auto count = util::parse_unsigned(number);
  return count && *count > 1;
}

/// Whether an option of the agent says several, also where only the job knows how many.
bool has_several(const Link& agent, OptionMeaning what) {
  const auto* option = agent.find(what);
  if (!option || !option->value) return false;
  return !option->value->known() || is_several(option->value->text());
}

/// The configuration that the agent's option names, as far as it can be read.
std::string config_of(const LintContext& subject, const Link& agent) {
  const auto* option = agent.find(OptionMeaning::config);
  if (!option || !option->value || !option->value->known() || !subject.read_file) return {};
  return subject.read_file(option->value->text()).value_or("");
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    const auto* row = agent ? model::find_launcher(agent->program) : nullptr;
    if (!row || !row->alone_without_gpus || agent->find(OptionMeaning::hosts)) continue;
    const auto config = config_of(subject, *agent);
    if (config.find("mpirun_hostfile:") != std::string::npos) continue;
    const bool by_config =
        config_value(config, "distributed_type") == "MULTI_CPU" && !agent->find("multi_gpu");
    const auto* option = agent->find(OptionMeaning::no_gpus);
    if (!option && !by_config) continue;
    const auto shape = shape_of(subject, launch);
    const bool several =
        has_several(*agent, OptionMeaning::nodes) || has_several(*agent, OptionMeaning::ranks) ||
        is_several(config_value(config, "num_machines")) ||
        is_several(config_value(config, "num_processes")) || (launch.step() && shape.nodes.value_or(1) > 1);
    if (!several) continue;
    const auto* place = option ? option : agent->find(OptionMeaning::config);
    add_match(
        hits,
        {place->place,
         fmt::format("{}{} starts one process on each node, a world of 1, whatever its options request",
                     agent->program, option ? " --" + option->name : " with distributed_type MULTI_CPU"),
         "export ACCELERATE_USE_CPU=true and use --multi_gpu, or start a task per rank: srun hpcml "
         "launch -- python train.py"});
  }
  return hits;
}

} // namespace launch_cpu_worlds

Rule rule_launch_cpu_worlds() {
  using namespace launch_cpu_worlds;
  return {
      .id = "launch/cpu-worlds",
      .severity = diag::Severity::error,
      .title = "A separate CPU training on each node",
      .why =
          "For CPUs, accelerate starts several processes by mpirun only (--mpirun_hostfile). Without it, it "
          "starts one on each node, ignores --num_machines and --num_processes, and exits with 0: each node "
          "trains its own model. Its launcher for GPUs also starts processes on CPUs if "
          "ACCELERATE_USE_CPU=true.",
      .link = "https://huggingface.co/docs/accelerate/package_reference/cli",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun accelerate launch --cpu --num_machines 2 --num_processes 4 --main_process_ip $M --main_process_port 29500 train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1
accelerate launch --cpu --num_processes 1 train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
