// SPDX-License-Identifier: MIT
// The step with `hpcml launch`: readable flags, from which launch plans again on the live node.
#include "generate/render/sections.hpp"

namespace hpcml::render {

namespace {

const char* bind_mode(model::Binder binder) {
  switch (binder) {
  case model::Binder::srun_masks: return "verify";
  case model::Binder::launch: return "apply";
  case model::Binder::srun_cores:
  case model::Binder::agent: break;
  }
  return "none";
}

void add(ScriptWords& words, const char* option, const std::string& value) {
  words.push_back(ScriptWord::literal(option));
  words.push_back(ScriptWord::literal(value));
}

/// Whether the step runs in an image that has other files than the host.
bool hides_host(const JobStepInput& step) {
  const auto& container = step.plan.container;
  return container && !step.program.on_host && !model::row_of(container->engine).keeps_host;
}

} // namespace

std::vector<ScriptWords> launch_groups(const JobStepInput& step) {
  const auto& plan = step.plan;
  ScriptWords program{ScriptWord::expression("\"$HPCML\"")};
  for (const auto& directory : plan.sites_dirs) add(program, "--sites-dir", directory);
  program.push_back(ScriptWord::literal("launch"));
  add(program, "--site", plan.site_id);
  add(program, "--profile-hash", plan.site_hash);
  // What the profile's rules ask about the whole job: the ranks could only guess it.
  if (!plan.partition.empty()) add(program, "--partition", plan.partition);
  if (!plan.node_type.empty()) add(program, "--node-type", plan.node_type);
  if (!plan.qos.empty()) add(program, "--qos", plan.qos);
  if (!plan.gpu_type.empty()) add(program, "--gpu-type", plan.gpu_type);
  add(program, "--gpus-per-node", std::to_string(plan.layout.gpus_per_node));

  auto& flags = program;
  if (plan.launcher.spawns) add(flags, "--nproc-per-node", std::to_string(plan.layout.ranks_per_node));
  add(flags, "--bind", bind_mode(plan.binding.binder));
  if (plan.layout.cpus_per_rank > 0) add(flags, "--cpus-per-task", std::to_string(plan.layout.cpus_per_rank));
  if (plan.layout.threads_per_core > 1)
    add(flags, "--threads-per-core", std::to_string(plan.layout.threads_per_core));
  if (plan.binding.idle_cores.value != model::IdleCorePolicy::none)
    add(flags, "--idle-cores", model::word_of(plan.binding.idle_cores.value));
  if (plan.layout.gpus_per_node > 0 && plan.binding.order.value.kind != model::GpuOrderKind::gpu)
    add(flags, "--rank-order", plan.binding.order.value.text());
  // Ranks that share GPUs do not have one each.
  if (plan.layout.ranks_per_node * plan.layout.gpus_per_rank <= plan.layout.gpus_per_node)
    add(flags, "--gpus-per-task", std::to_string(plan.layout.gpus_per_rank));
  if (plan.layout.gpus_per_node > 0)
    add(flags, "--gpu-visibility", model::word_of(plan.gpu_visibility.value));
  if (plan.backend.value != model::Backend::automatic)
    add(flags, "--backend", model::word_of(plan.backend.value));
  if (const auto& endpoint = plan.rendezvous; !endpoint.port_from_env.empty()) {
    flags.push_back(ScriptWord::literal("--master-port"));
    flags.push_back(ScriptWord::expression("\"$" + endpoint.port_from_env + "\""));
  } else if (endpoint.port != 0) {
    add(flags, "--master-port", std::to_string(endpoint.port));
  }
  if (hides_host(step)) flags.push_back(ScriptWord::literal("--container"));
  for (const auto& flag : model::k_rank_flags)
    if (const auto value = flag.write(plan.ranks)) {
      flags.push_back(ScriptWord::literal("--" + std::string(flag.name)));
      if (!flag.is_switch()) flags.push_back(ScriptWord::literal(*value));
    }
  flags.push_back(ScriptWord::literal("--"));

  std::vector<ScriptWords> groups{step_words(step)};
  // "ibrun" alone does not need a line.
  if (groups[0].size() == 1)
    groups[0].insert(groups[0].end(), program.begin(), program.end());
  else
    groups.push_back(program);
  for (auto& group : wrapper_groups(step)) groups.push_back(std::move(group));
  groups.push_back(program_words(step.program, step.program.command));
  return groups;
}

} // namespace hpcml::render
