// SPDX-License-Identifier: MIT
#include "run/resolve/rank_setup.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/model/gpu_vendor.hpp"
#include "core/model/tf32.hpp"
#include "core/slurm/run_id.hpp"
#include "core/util/dollar_template.hpp"
#include "core/util/text.hpp"
#include "generate/plan/environment.hpp"
#include "run/resolve/agreement.hpp"
#include "run/resolve/cache_paths.hpp"
#include "run/resolve/container_environment.hpp"

namespace hpcml::launch {

namespace {

/// Threads, loaders and devices of one rank.
bool is_for_one_rank(const std::string& variable) {
  return variable.starts_with("OMP_") || variable == "HPCML_INTEROP_THREADS" ||
         variable == "HPCML_DATALOADER_WORKERS" || variable == "UCX_NET_DEVICES";
}

class Builder {
public:
  explicit Builder(RankSetup& setup) : x_setup(setup) {}

  void set(const std::string& name, const std::string& value) {
    x_setup.env.set(name, value);
    x_setup.changes.emplace_back(name, value);
  }

  /// Sets a value of the site, unless the variable is already set: then the other value is reported.
  void offer(const std::string& name, const std::string& value) {
    const auto existing = x_setup.env.get(name);
    if (!existing) return set(name, value);
    if (*existing != value)
      x_setup.warnings.push_back(
          fmt::format("{0}={1} is already set and is kept; hpcml would set {2}\n"
                      "hint: remove what sets {0}, unless the program needs this value",
                      name, *existing, value));
  }

  void remove(const std::string& name) {
    if (!x_setup.env.get(name)) return;
    x_setup.env.unset(name);
    x_setup.removed.push_back(name);
  }

private:
  RankSetup& x_setup;
};

void set_site_variables(Builder& builder, RankSetup& setup) {
  for (const auto& variable : setup.plan.env) {
    if (!variable.expression) {
      builder.offer(variable.name, variable.value);
      continue;
    }
    if (setup.env.get(variable.name)) continue; // the script has evaluated it
    const auto value = expand_variables(variable.value, setup.env);
    if (value)
      builder.set(variable.name, *value);
    else
      setup.warnings.push_back(
          fmt::format("{} of the site profile is not set: only a shell can evaluate its value "
                      "'{}'\nhint: set it in the job script, before hpcml launch",
                      variable.name, variable.value));
  }
}

/// Shows a rank its own GPUs, or all of them in the ranks' order. Slurm sets several lists in some versions;
/// a second one would be applied to what the first left.
void set_visible_gpus(Builder& builder, RankSetup& setup) {
  const auto& [found, visible, vendor, per_rank, cpu_only] = setup.node->gpus;
  const bool own = setup.node->plan.gpu_visibility == model::GpuVisibilityMode::own && !setup.node->agent;
  if (visible.entries.empty() || !(own || visible.entries != found.entries)) return;
  std::string name = visible.variable.empty() ? setup.node->plan.visible_variable : visible.variable;
  if (name.empty()) name = model::visible_devices_variable(vendor);
  if (name.empty()) {
    setup.warnings.push_back(
        fmt::format("the vendor of the GPUs is unknown, so that {} has no effect\nhint: set "
                    "--site to a name of 'hpcml sites list'",
                    own ? "--gpu-visibility own" : "--rank-order"));
    return;
  }
  const auto& layout = setup.world.layout;
  const auto mine =
      own ? gpus_of_local_rank(visible, layout.local_rank, layout.local_world_size, std::max(1U, per_rank))
          : util::join(visible.entries, ",");
  const auto old = setup.env.get(name);
  for (const auto* variable : model::k_visible_devices_variables)
    if (variable != name && old && setup.env.get(variable) == old && mine != *old) builder.remove(variable);
  builder.set(name, mine);
  setup.gpus = mine;
}

/// Hides all GPUs from a rank that asked for none. "-1" and not an empty value: HIP takes an empty list for
/// no list, and layers in between (containers, scripts) drop empty variables. Where nothing is visible, or
/// Slurm has hidden all, nothing is done.
void hide_gpus(Builder& builder, const VisibleGpus& found, model::GpuVendor vendor) {
  if (found.entries.empty()) return;
  const std::string name = found.variable.empty() ? model::visible_devices_variable(vendor) : found.variable;
  if (name.empty()) return;
  for (const auto* variable : model::k_visible_devices_variables)
    if (variable != name) builder.remove(variable);
  builder.set(name, "-1");
}

/// Under mpirun or ibrun each task inherits the numbers of the batch script or of the launcher's own step:
/// all tasks of a node would be rank 0 for a program that reads Slurm's variables, as srun sets them.
std::vector<std::pair<std::string, std::string>> slurm_task_variables(const RankSetup& setup) {
  if (!setup.world.by_launcher || setup.node->agent || setup.env.get_or("SLURM_JOB_ID", "").empty())
    return {};
  const auto& layout = setup.world.layout;
  return {{"SLURM_PROCID", std::to_string(layout.rank)},
          {"SLURM_LOCALID", std::to_string(layout.local_rank)},
          {"SLURM_NODEID", std::to_string(layout.node_rank)}};
}

/// Sets the variables of the rank's place; an agent sets those of its ranks itself.
void set_rank_variables(Builder& builder, const RankSetup& setup, bool virtual_local_rank) {
  for (const auto& [name, value] : rank_variables(setup.world))
    if (!setup.node->agent ||
        (name != "RANK" && name != "LOCAL_RANK" && name != "WORLD_SIZE" && name != "LOCAL_WORLD_SIZE"))
      builder.set(name, virtual_local_rank && name == "LOCAL_RANK" ? "0" : value);
  for (const auto& [name, value] : slurm_task_variables(setup)) builder.set(name, value);
  for (const auto& [name, value] : agent_variables(setup.world)) builder.set(name, value);
  if (!setup.world.agent) return;
  for (const auto& [name, value] : setup.world.agent->offered)
    if (!setup.env.get(name)) builder.set(name, value);
}

/// Returns the number of CPUs per task as srun would count them for this rank.
std::size_t count_cpus(const RankSetup& setup, const LaunchRequest& request) {
  const NodeSetup& node = *setup.node;
  const bool slice =
      !node.agent && node.world.layout.local_world_size > 1 && node.binding.mode != BindMode::verify;
  const auto& cpus = (slice || node.binding.mode == BindMode::apply) && !setup.plan.binding.cpus.empty()
                         ? setup.plan.binding.cpus
                         : node.mask;
  if (request.threads_per_core > 1) return cpus.size();
  std::size_t count = 0;
  for (const auto& core : node.cpus.core_threads) count += core.intersects(cpus) ? 1 : 0;
  return count;
}

/// Sets the rank's number of cores as Slurm would. Scripts that bind by masks remove the variable for srun,
/// which would choose the CPUs itself, but programs size their pools by it. Since 23.11, srun rejects a
/// value that differs from SLURM_TRES_PER_TASK. It is not set if no CPUs per task were requested, because an
/// srun of the program would request them.
void set_cpus_per_task(Builder& builder, const RankSetup& setup, const LaunchRequest& request) {
  constexpr const char* k_name = "SLURM_CPUS_PER_TASK";
  if (setup.env.get_or("SLURM_JOB_ID", "").empty() || setup.env.get(k_name)) return;
  for (const auto& part : util::split(setup.env.get_or("SLURM_TRES_PER_TASK", ""), ','))
    for (const auto* prefix : {"cpu=", "cpu:", "cpu/"})
      if (part.starts_with(prefix)) return builder.set(k_name, part.substr(4));
  if (request.cpus_per_task == 0) return;
  const auto count = count_cpus(setup, request);
  if (count > 0) builder.set(k_name, std::to_string(count));
}

/// Switches TF32 as it was asked for, also against what an image or a module has set.
void set_tf32(Builder& builder, RankSetup& setup, const LaunchRequest& request) {
  if (!request.rank_settings.tf32) return;
  const auto choice = request.rank_settings.tf32->value;
  const auto& gpus = setup.node->gpus;
  const auto flag = "--tf32 " + model::word_of(choice);
  if (gpus.visible.entries.empty())
    setup.warnings.push_back(fmt::format("{0} has no effect: no GPU is visible, and CPUs have no TF32\n"
                                         "hint: remove {0}, or request GPUs for the step",
                                         flag));
  const auto variables = model::tf32_variables(choice, gpus.vendor);
  const auto warn = [&](const std::string& name) {
    if (const auto old = setup.env.get(name); old && !old->empty())
      setup.warnings.push_back(fmt::format("{} replaces {}={}", flag, name, *old));
  };
  for (const auto& [name, value] : variables.set) {
    if (setup.env.get_or(name, value) != value) warn(name);
    builder.set(name, value);
  }
  for (const auto& name : variables.unset) {
    warn(name);
    builder.remove(name);
  }
}

/// The variables of the node's caches, where the environment has none of that name.
void set_cache_variables(Builder& builder, const RankSetup& setup) {
  const auto& caches = setup.node->plan.caches;
  const auto& paths = setup.node->cache_paths;
  for (std::size_t i = 0; i < caches.size() && i < paths.size(); ++i)
    for (const auto& [name, below] : caches[i].variables)
      if (!setup.env.get(name)) builder.set(name, path_inside(paths[i], below));
}

/// Whether a rank in a container gets this variable of its environment: what launch or the site's plan sets,
/// and what the job's script promises (HPCML_CHECKPOINT_DIR). Paths of libraries and programs are the
/// image's.
bool is_for_container(const RankSetup& setup, const std::string& name) {
  if (name == "PATH" || name == "LD_LIBRARY_PATH") return false;
  const auto is_set = [&](const auto& set) { return set.first == name; };
  const auto is_planned = [&](const auto& planned) { return planned.name == name; };
  return name.starts_with("HPCML_") || std::any_of(setup.changes.begin(), setup.changes.end(), is_set) ||
         std::any_of(setup.plan.env.begin(), setup.plan.env.end(), is_planned);
}

} // namespace

void set_container_variables(RankSetup& setup, const LaunchRequest& request) {
  const auto prefixes = container_prefixes(request.command, request.container);
  if (prefixes.empty()) return;
  std::map<std::string, std::string> found;
  for (const auto& [name, value] : setup.env.variables())
    if (is_for_container(setup, name)) found.emplace(name, value);
  Builder builder(setup);
  if (!setup.node->agent) // an agent's ranks get others
    for (const auto& [name, value] : rank_variables(setup.world))
      for (const auto& prefix : prefixes) builder.set(prefix + name, value);
  for (const auto& [name, value] : found)
    for (const auto& prefix : prefixes)
      if (!setup.env.get(prefix + name)) builder.set(prefix + name, value);
  export_rank_marker(setup.changes, setup.env);
}

std::vector<std::string> command_of_rank(const LaunchRequest& request, unsigned local_rank) {
  auto command = request.command;
  for (std::size_t i = 1; request.fills_in_local_rank && i < command.size(); ++i)
    command[i] = util::fill_dollar_template(command[i], {{"local_rank", std::to_string(local_rank)}});
  return command;
}

RankSetup make_rank_setup(const LaunchRequest& request, std::shared_ptr<const NodeSetup> node,
                          unsigned local_rank) {
  RankSetup setup;
  setup.node = std::move(node);
  const NodeSetup& common = *setup.node;
  setup.world = local_rank == common.world.layout.local_rank ? common.world
                                                             : world_of_local_rank(common.world, local_rank);
  setup.plan = plan::plan_rank(site_or_none(request), common.plan, local_rank);
  setup.warnings = setup.plan.warnings;
  setup.gpus = common.gpus.visible.entries.empty() ? "none" : util::join(common.gpus.visible.entries, ",");
  setup.env = common.env;
  if (const auto id = slurm::make_run_id(setup.env, slurm::job_name(setup.env)); !id.empty())
    setup.env.set(slurm::k_run_id_variable, id); // as the job's script has set it, if hpcml runs that
  Builder builder(setup);
  set_rank_variables(builder, setup, request.virtual_local_rank);
  if (common.agent) // only the agent knows how many ranks it starts
    setup.plan.env.erase(std::remove_if(setup.plan.env.begin(), setup.plan.env.end(),
                                        [](const auto& variable) { return is_for_one_rank(variable.name); }),
                         setup.plan.env.end());
  if (common.backend != model::Backend::automatic)
    builder.set("HPCML_BACKEND", model::word_of(common.backend));
  set_cpus_per_task(builder, setup, request);
  set_tf32(builder, setup, request);
  set_site_variables(builder, setup);
  if (common.gpus.cpu_only) {
    hide_gpus(builder, common.gpus.found, common.gpus.vendor);
    const auto variable = plan::cpu_rank_variable();
    builder.offer(variable.name, variable.value);
  } else {
    set_visible_gpus(builder, setup);
  }
  set_cache_variables(builder, setup);
  // srun reads them as requests: one that the program calls would bind its tasks to this step's CPUs.
  for (const auto* name : {"SLURM_CPU_BIND", "SLURM_MEM_BIND"}) builder.remove(name);
  export_rank_marker(setup.changes, setup.env);
  return setup;
}

} // namespace hpcml::launch
