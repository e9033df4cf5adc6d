// SPDX-License-Identifier: MIT
#include "launch/rank_setup.hpp"

#include <algorithm>
#include <map>

#include "launch/interfaces.hpp"
#include "launch/rank_network.hpp"
#include "model/gpu_vendor.hpp"
#include "topo/gpu_order.hpp"
#include "topo/live_nics.hpp"
#include "topo/live_node.hpp"
#include "util/text.hpp"

namespace hpcml::launch {

using model::Backend;
using util::Result;

namespace {

const model::Site& site_or_none(const LaunchRequest& request) {
  static const model::Site k_none{};
  return request.site ? *request.site : k_none;
}

/// The visible GPUs with the node's own indices: by Slurm's list where it numbers the devices, else by the
/// visible list.
std::vector<model::GpuPlace> visible_places(const VisibleGpus& visible, const NodeView& node,
                                            const util::EnvSnapshot& env) {
  auto indices = split_visible_list(env.get_or("SLURM_STEP_GPUS", ""));
  if (indices.size() != visible.entries.size()) indices = visible.entries;
  std::vector<model::GpuPlace> places;
  const auto& all = node.gpus.places;
  // Whose part a MIG instance is only the driver's library tells; where all GPUs are in one place that does
  // not matter.
  const bool together = !all.empty() && std::all_of(all.begin(), all.end(), [&](const auto& place) {
    return place.numa == all.front().numa;
  });
  for (std::size_t i = 0; i < visible.entries.size(); ++i) {
    if (util::starts_with(visible.entries[i], "MIG-")) {
      places.push_back({static_cast<unsigned>(i), together ? all.front().numa : std::nullopt, {}, {}, {}});
      continue;
    }
    const auto index = util::parse_unsigned(indices[i]);
    const auto number = index && *index < 1024 ? static_cast<unsigned>(*index) : static_cast<unsigned>(i);
    places.push_back(number < all.size() ? all[number] : model::GpuPlace{number, {}, {}, {}, {}});
  }
  return places;
}

unsigned gpus_per_rank(const LaunchRequest& request, const VisibleGpus& visible, unsigned ranks) {
  if (request.gpus_per_task) return *request.gpus_per_task;
  if (visible.entries.empty()) return 0;
  return std::max(1U, static_cast<unsigned>(visible.entries.size()) / std::max(1U, ranks));
}

std::optional<unsigned> dataloader_workers(const util::EnvSnapshot& env) {
  const auto text = env.get("HPCML_DATALOADER_WORKERS");
  const auto number = text ? util::parse_unsigned(*text) : std::nullopt;
  return number && *number < 100000 ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

/// Threads, loaders and devices of one rank.
bool is_for_one_rank(const std::string& variable) {
  return util::starts_with(variable, "OMP_") || variable == "HPCML_INTEROP_THREADS" ||
         variable == "HPCML_DATALOADER_WORKERS" || variable == "UCX_NET_DEVICES";
}

class Builder {
public:
  Builder(RankSetup& setup, const util::EnvSnapshot& env) : x_setup(setup) { x_setup.env = env; }

  void set(const std::string& name, const std::string& value) {
    x_setup.env.set(name, value);
    x_setup.changes.emplace_back(name, value);
  }

  /// A value of the site; what somebody has set already counts more, and is said.
  void offer(const std::string& name, const std::string& value) {
    const auto existing = x_setup.env.get(name);
    if (!existing) return set(name, value);
    if (*existing != value)
      x_setup.warnings.push_back(name + "=" + *existing + " is set already and kept; hpcml would set " +
                                 value);
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
      setup.warnings.push_back(variable.name + " needs a shell to be set (" + variable.value +
                               "); the job script has to export it");
  }
}

/// Puts the visible GPUs and their places into the order in which the ranks take them. Unordered where the
/// order cannot be known; an error where it names GPUs that are not there.
util::Status put_in_order(const LaunchRequest& request, const NodeView& node, VisibleGpus& visible,
                          std::vector<model::GpuPlace>& places, std::vector<std::string>& warnings) {
  const auto& order = request.rank_order;
  if (order.kind == model::RankOrder::gpu || visible.entries.empty()) return util::Done{};
  std::vector<topo::GpuInOrder> gpus;
  std::map<unsigned, unsigned> numbers; // of the node -> of the step
  for (unsigned i = 0; i < places.size(); ++i) {
    gpus.push_back({i, topo::lowest_cpu(node.cpus, places[i]).value_or(0)});
    numbers.emplace(places[i].index, i);
  }
  const auto positions = topo::find_rank_order(gpus, topo::renumber_links(node.links, numbers), order);
  if (!positions && order.kind == model::RankOrder::list)
    return util::Error{"--rank-order " + order.text() + ": " + positions.error().what,
                       positions.error().hint};
  if (!positions) {
    warnings.push_back("--rank-order " + order.text() + ": " + positions.error().what +
                       "; the ranks take the GPUs by their numbers");
    return util::Done{};
  }
  visible = in_order(visible, *positions, "in the order " + order.text());
  std::vector<model::GpuPlace> ordered;
  for (const auto at : *positions) ordered.push_back(places[at]);
  places = std::move(ordered);
  return util::Done{};
}

/// Shows a rank its own GPUs, or all of them in the ranks' order. Slurm sets several lists in some versions;
/// a second one would be applied to what the first left.
void set_visible_gpus(Builder& builder, RankSetup& setup, const VisibleGpus& visible, model::GpuVendor vendor,
                      unsigned per_rank, bool ordered) {
  const bool own = setup.plan.gpu_visibility == model::GpusSeen::own && !setup.agent;
  if (visible.entries.empty() || !(own || ordered)) return;
  std::string name = visible.variable.empty() ? setup.plan.visible_variable : visible.variable;
  if (name.empty()) name = model::visible_devices_variable(vendor);
  if (name.empty()) {
    setup.warnings.push_back(std::string(own ? "GPU visibility \"own\"" : "--rank-order") +
                             " needs to know the GPUs' vendor: name the site with --site");
    return;
  }
  const auto& layout = setup.world.layout;
  const auto mine =
      own ? own_entries(visible, layout.local_rank, layout.local_world_size, std::max(1U, per_rank))
          : util::join(visible.entries, ",");
  const auto old = setup.env.get(name);
  for (const auto* other : model::k_visible_devices_variables)
    if (other != name && old && setup.env.get(other) == old && mine != *old) builder.remove(other);
  builder.set(name, mine);
  setup.gpus = mine;
}

/// Hides all GPUs from a rank that asked for none. "-1" and not an empty value: HIP takes an empty list for
/// no list, and layers in between (containers, scripts) drop empty variables. Where nothing is visible, or
/// Slurm has hidden all, nothing is done.
void hide_gpus(Builder& builder, const VisibleGpus& there, model::GpuVendor vendor) {
  if (there.entries.empty()) return;
  const std::string name = there.variable.empty() ? model::visible_devices_variable(vendor) : there.variable;
  if (name.empty()) return;
  for (const auto* other : model::k_visible_devices_variables)
    if (other != name) builder.remove(other);
  builder.set(name, "-1");
}

plan::RankFacts facts_of(const LaunchRequest& request, const RankSetup& setup, const NodeView& node) {
  const auto& layout = setup.world.layout;
  plan::RankFacts facts;
  facts.local_rank = layout.local_rank;
  facts.world_size = layout.world_size;
  facts.local_world_size = layout.local_world_size;
  facts.node_count = layout.node_count();
  facts.partition =
      request.partition.empty() ? setup.env.get_or("SLURM_JOB_PARTITION", "") : request.partition;
  facts.container = request.container;
  facts.job = request.job;
  if (facts.job.qos.empty()) facts.job.qos = setup.env.get_or("SLURM_JOB_QOS", "");
  facts.node_gpus = node.gpus.places;
  facts.nics = node.nics;
  facts.live_cpus = node.cpus;
  return facts;
}

} // namespace

Result<NodeView> read_node(const LaunchRequest& request) {
  auto cpus = topo::read_live_cpus();
  if (!cpus) return cpus.error();
  auto mask = topo::read_allowed_cpus();
  if (!mask) return mask.error();
  if (mask->empty())
    return util::Error{"this process may use no CPU at all",
                       "look at the step's --cpu-bind and at the job's cgroup"};
  NodeView node{*cpus, *mask, topo::read_live_gpus(), {}, {}, {}};
  const auto& names = site_or_none(request).network.interfaces;
  if (request.site)
    node.interfaces = read_interfaces(); // without one nothing names interfaces that could be missing
  if (request.gpus_per_task != 0U) node.nics = topo::read_live_nics(node.gpus.places, names);
  if (request.rank_order.kind == model::RankOrder::ring)
    if (auto whole = topo::read_live_node()) node.links = std::move(whole->links);
  return node;
}

bool is_agent_command(const std::vector<std::string>& command) {
  static const std::vector<std::string> k_programs = {"torchrun", "accelerate", "deepspeed"};
  static const std::vector<std::string> k_modules = {"torch.distributed.run", "torch.distributed.launch",
                                                     "accelerate.commands.launch"};
  const auto within = [](const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (within(k_programs, command[i].substr(command[i].rfind('/') + 1))) return true;
    if (command[i] == "-m" && i + 1 < command.size() && within(k_modules, command[i + 1])) return true;
    if (util::ends_with(command[i], ".py")) return false; // behind the script stand its own words
  }
  return false;
}

Result<RankSetup> plan_rank_setup(const LaunchRequest& request, const World& world, const NodeView& node,
                                  const util::EnvSnapshot& env) {
  const model::Site& site = site_or_none(request);
  const auto& layout = world.layout;
  RankSetup setup;
  setup.world = world;
  setup.cpus = node.cpus;
  setup.mask = node.mask;
  Builder builder(setup, env);
  const auto vendor = node.gpus.vendor == model::GpuVendor::unknown ? site.gpu_vendor() : node.gpus.vendor;
  const auto there = find_visible_gpus(env, model::visible_devices_variable(vendor),
                                       static_cast<unsigned>(node.gpus.places.size()));
  // A job that owns a node may see GPUs that it did not ask for.
  const bool cpu_only = request.gpus_per_task == 0U;
  if (cpu_only && request.backend == Backend::nccl)
    return util::Error{"NCCL needs GPUs, and this rank is to have none (--gpus-per-task 0)",
                       "--backend gloo, or give the ranks GPUs"};
  if (there.cut && there.entries.empty() && !cpu_only)
    return util::Error{there.told_by, "name GPUs that are there; -1 hides them all"};
  auto visible = cpu_only ? VisibleGpus{{}, "", "--gpus-per-task 0"} : there;
  auto places = visible_places(visible, node, env);
  if (const auto ordered = put_in_order(request, node, visible, places, setup.warnings); !ordered)
    return ordered.error();
  const unsigned per_rank = gpus_per_rank(request, visible, layout.local_world_size);
  setup.gpus = visible.entries.empty() ? "none" : util::join(visible.entries, ",");
  setup.agent =
      !request.processes_per_node && layout.local_world_size == 1 && is_agent_command(request.command);

  const unsigned demanded =
      request.backend == Backend::nccl ? std::max(1U, per_rank) : request.gpus_per_task.value_or(0);
  if (demanded > 0)
    if (const auto checked = check_gpus(visible, env, layout.local_world_size, demanded); !checked)
      return checked.error();

  BindMode asked = setup.agent ? BindMode::none : request.bind;
  // Outside a job nobody divides the machine: two launches would bind to the same cores.
  if (asked == BindMode::automatic && !world.in_job) asked = BindMode::none;
  plan::RankFacts facts = facts_of(request, setup, node);
  facts.live_gpus = std::move(places);
  facts.gpu_vendor = vendor;
  const auto all = node.cpus.all();
  // What the site keeps from every job is missing in no whole node.
  const auto usable = all.is_subset_of(node.mask) ? all : all - plan::reserved_cpus(site, facts);
  setup.binding = decide_binding(asked, node.mask, usable, env, layout.local_world_size);
  facts.allowed = setup.binding.plan_from & all;
  facts.owns_node = setup.binding.owns_node;
  setup.plan = plan::plan_rank(site, facts,
                               {per_rank, request.cpus_per_task, request.gpu_visibility,
                                dataloader_workers(env), request.threads_per_core, request.spill});
  setup.warnings.insert(setup.warnings.end(), setup.plan.warnings.begin(), setup.plan.warnings.end());
  setup.node_warnings = setup.plan.node_warnings;
  if (there.cut && !cpu_only) setup.node_warnings.push_back(there.told_by);

  for (const auto& [name, value] : rank_variables(world))
    if (!setup.agent ||
        (name != "RANK" && name != "LOCAL_RANK" && name != "WORLD_SIZE" && name != "LOCAL_WORLD_SIZE"))
      builder.set(name, value);
  if (setup.agent) // only the agent knows how many ranks it starts
    setup.plan.env.erase(std::remove_if(setup.plan.env.begin(), setup.plan.env.end(),
                                        [](const auto& variable) { return is_for_one_rank(variable.name); }),
                         setup.plan.env.end());
  const auto backend = cpu_only && request.backend == Backend::automatic ? Backend::gloo : request.backend;
  if (backend != Backend::automatic) builder.set("HPCML_BACKEND", model::word_of(backend));
  settle_interfaces(setup, site, node.interfaces);
  set_site_variables(builder, setup);
  if (cpu_only)
    hide_gpus(builder, there, vendor);
  else
    set_visible_gpus(builder, setup, visible, vendor, per_rank, visible.entries != there.entries);
  if (!request.profile_hash.empty() && request.site && request.profile_hash != site.hash)
    setup.warnings.push_back("the script was made with another version of the profile '" + site.id + "' (" +
                             request.profile_hash + ", here " + site.hash + "); this one is used");
  return setup;
}

} // namespace hpcml::launch
