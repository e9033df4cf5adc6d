// SPDX-License-Identifier: MIT
#include "run/resolve/node_setup.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "core/launch_chain/image.hpp"
#include "core/model/gpu_vendor.hpp"
#include "core/topo/rank_order.hpp"
#include "core/util/text.hpp"
#include "generate/plan/environment.hpp"
#include "run/resolve/interfaces.hpp"

namespace hpcml::launch {

using model::Backend;
using util::Result;

namespace {

// The ranks' network variables as this node can fulfil them.

/// Removes interfaces that this node lacks from the plan, because Gloo fails on an unknown name without a
/// clear error. All ranks keep the same list: NCCL finds the nearest NIC itself, and Gloo's ranks use the
/// first. `present` are the node's interfaces; empty: not known. Variables of `setup.env` are not changed.
void settle_interfaces(NodeSetup& setup, const model::Site& site, const std::vector<std::string>& present) {
  std::vector<std::string> dropped;
  std::string wanted;
  auto& env = setup.plan.env;
  for (auto variable = env.begin(); variable != env.end();) {
    if (variable->expression || !names_interfaces(variable->name) || setup.env.get(variable->name)) {
      ++variable;
      continue;
    }
    const std::string kept = present_interfaces(variable->name, variable->value, present);
    if (kept == variable->value) {
      ++variable;
      continue;
    }
    wanted = variable->value;
    dropped.push_back(kept.empty() ? fmt::format("{} is not set", variable->name)
                                   : fmt::format("{}={}", variable->name, kept));
    variable->value = kept;
    variable = kept.empty() ? env.erase(variable) : std::next(variable);
  }
  if (!dropped.empty())
    setup.node_warnings.push_back(
        fmt::format("this node lacks network interfaces of the profile of {} (expected {}, found {}): {}",
                    site.id, wanted, util::join(present, ", "), util::join(dropped, ", ")));
}

/// Plans GLOO_SOCKET_IFNAME if no variable names it and the step has other nodes, by the node's way to these.
void settle_gloo_interface(NodeSetup& setup, const NetworkView& network) {
  constexpr const char* k_name = "GLOO_SOCKET_IFNAME";
  auto& env = setup.plan.env;
  const bool planned =
      std::any_of(env.begin(), env.end(), [](const auto& variable) { return variable.name == k_name; });
  if (planned || setup.env.get(k_name) || setup.world.layout.node_count() < 2) return;
  const auto interface = choose_gloo_interface(network, setup.env.get_or("NCCL_SOCKET_IFNAME", ""));
  if (!interface.empty())
    env.push_back({k_name,
                   interface,
                   false,
                   model::ValueScope::task,
                   {model::OriginKind::rule, "interface of the route to the other nodes", {}, {}, {}}});
}

/// Plans the ranks' limits, and warns where the limit of locked memory is too low for the node's or the
/// site's fabric.
void settle_limits(NodeSetup& setup, const NodeView& node, const std::string& site_fabric) {
  setup.limits = raise_limits(node.limits);
  const auto fabric = node.locking_fabric.empty() ? locking_fabric_of(site_fabric) : node.locking_fabric;
  const auto& locked = node.limits.locked_memory;
  const auto fault = check_locked_memory(locked, fabric);
  // The limit is that of the machine that runs hpcml emulate, not of the site's nodes.
  if (!fault || setup.env.get(k_rehearsal_variable)) return;
  setup.node_warnings.push_back(
      fault->can_be_raised
          ? fmt::format("the locked memory limit of {} (ulimit -l) is too low for {}: raised "
                        "to the hard limit ({})",
                        describe_bytes(locked.soft), fabric, describe_bytes(locked.hard))
          : fmt::format("{}\nhint: {}", fault->what, fault->next));
}

/// The visible GPUs with the node's own indices: by Slurm's list where it numbers the devices, else by the
/// visible list.
std::vector<model::GpuLocality> visible_places(const VisibleGpus& visible, const NodeView& node,
                                               const util::EnvSnapshot& env) {
  auto indices = split_visible_list(env.get_or("SLURM_STEP_GPUS", ""));
  if (indices.size() != visible.entries.size()) indices = visible.entries;
  std::vector<model::GpuLocality> places;
  const auto& all = node.gpus.places;
  // Only the driver's library knows the GPU of a MIG instance, which does not matter if all GPUs are in
  // one place.
  const bool together = !all.empty() && std::all_of(all.begin(), all.end(), [&](const auto& place) {
    return place.numa == all.front().numa;
  });
  for (std::size_t i = 0; i < visible.entries.size(); ++i) {
    if (visible.entries[i].starts_with("MIG-")) {
      places.push_back({static_cast<unsigned>(i), together ? all.front().numa : std::nullopt, {}, {}, {}});
      continue;
    }
    const auto index = util::parse_unsigned(indices[i]);
    const auto number = index && *index < 1024 ? static_cast<unsigned>(*index) : static_cast<unsigned>(i);
    places.push_back(number < all.size() ? all[number] : model::GpuLocality{number, {}, {}, {}, {}});
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

/// Sorts the visible GPUs and their places by the order in which the ranks use them. Keeps their order if it
/// cannot be determined, and fails if it names GPUs that do not exist.
util::Status put_in_order(const LaunchRequest& request, const NodeView& node, VisibleGpus& visible,
                          std::vector<model::GpuLocality>& places, std::vector<std::string>& warnings) {
  const auto& order = request.rank_order;
  if (order.kind == model::GpuOrderKind::gpu || visible.entries.empty()) return util::Success{};
  std::vector<topo::RankGpuOrderKey> gpus;
  std::map<unsigned, unsigned> numbers; // of the node -> of the step
  for (unsigned i = 0; i < places.size(); ++i) {
    gpus.push_back({i, topo::lowest_cpu(node.cpus, places[i]).value_or(0)});
    numbers.emplace(places[i].index, i);
  }
  const auto positions = topo::find_rank_order(gpus, topo::renumber_links(node.links, numbers), order);
  if (!positions && order.kind == model::GpuOrderKind::list)
    return util::Error{fmt::format("--rank-order {}: {}", order.text(), positions.error().what),
                       positions.error().hint};
  if (!positions) {
    warnings.push_back(fmt::format("--rank-order {}: {}; ranks use the GPUs in numerical order\n"
                                   "hint: use --rank-order gpu, or a list such as 0,1,3,2",
                                   order.text(), positions.error().what));
    return util::Success{};
  }
  visible = reorder_gpus(visible, *positions, fmt::format("in the order {}", order.text()));
  std::vector<model::GpuLocality> ordered;
  for (const auto at : *positions) ordered.push_back(places[at]);
  places = std::move(ordered);
  return util::Success{};
}

plan::StepNodeFacts facts_of(const LaunchRequest& request, const NodeSetup& setup, const NodeView& node) {
  const auto& layout = setup.world.layout;
  plan::StepNodeFacts facts;
  facts.world_size = layout.world_size;
  facts.local_world_size = layout.local_world_size;
  facts.node_count = layout.node_count();
  facts.partition =
      request.partition.empty() ? setup.env.get_or("SLURM_JOB_PARTITION", "") : request.partition;
  facts.container = request.container;
  if (const auto started =
          request.container ? launch_chain::find_started_container(request.command) : std::nullopt)
    facts.image = started->image;
  facts.job = request.job;
  if (facts.job.qos.empty()) facts.job.qos = setup.env.get_or("SLURM_JOB_QOS", "");
  facts.node_gpus = node.gpus.places;
  facts.nics = node.nics;
  facts.live_cpus = node.cpus;
  facts.gpu_vendor = setup.gpus.vendor;
  return facts;
}

/// Returns the ranks without their own GPU as text; empty if each has one, or if each task may have its own
/// list.
std::string too_few_gpus(const NodeSetup& setup, bool starts) {
  const auto& gpus = setup.gpus;
  const std::size_t ranks = setup.world.layout.local_world_size, seen = gpus.visible.entries.size();
  if (gpus.cpu_only || seen == 0 || seen >= ranks) return {};
  std::size_t all = seen;
  if (!starts) {
    const auto on_node = util::parse_unsigned(setup.env.get_or("SLURM_GPUS_ON_NODE", ""));
    if (!on_node || *on_node == 0 || *on_node >= ranks) return {};
    all = std::max<std::size_t>(seen, *on_node);
  }
  return fmt::format(
      "{} ranks share {} ({}): set_device(LOCAL_RANK) fails from rank {} on, and NCCL accepts one "
      "process per GPU\nhint: use {} per node, or request {} GPUs",
      ranks, util::counted(all, "GPU"), gpus.visible.source, all, util::counted(all, "rank"), ranks);
}

/// Returns a variable of the environment that restricts the program to fewer cores than the rank has.
std::string thread_binding(const util::EnvSnapshot& env) {
  for (const auto* name : {"OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (const auto value = env.get(name); value && plan::binds_threads(name, *value))
      return fmt::format(
          "with {}={}, `import torch` binds a rank and its data loaders to the first of its cores\n"
          "hint: remove it if the program loads data",
          name, *value);
  return {};
}

/// The GPUs of the step in the ranks' order, and their places on the node.
util::Status find_gpus(const LaunchRequest& request, const NodeView& node, bool starts, NodeSetup& setup,
                       std::vector<model::GpuLocality>& places) {
  const model::Site& site = site_or_none(request);
  auto& gpus = setup.gpus;
  const unsigned ranks = setup.world.layout.local_world_size;
  gpus.vendor = node.gpus.vendor == model::GpuVendor::unknown ? site.gpu_vendor() : node.gpus.vendor;
  gpus.found = find_visible_gpus(setup.env, model::visible_devices_variable(gpus.vendor),
                                 static_cast<unsigned>(node.gpus.places.size()));
  // A job that owns a node may see GPUs that it did not ask for.
  gpus.cpu_only = request.gpus_per_task == 0U;
  if (gpus.cpu_only && request.backend == Backend::nccl)
    return util::Error{"NCCL requires GPUs, but this rank has none (--gpus-per-task 0)",
                       "use --backend gloo, or request GPUs for the ranks"};
  if (gpus.found.cut && gpus.found.entries.empty() && !gpus.cpu_only)
    return util::Error{gpus.found.source, "use the GPU numbers of this node, or -1 to hide all GPUs"};
  gpus.visible = gpus.cpu_only ? VisibleGpus{{}, "", "--gpus-per-task 0"} : gpus.found;
  places = visible_places(gpus.visible, node, setup.env);
  TRY_DONE(put_in_order(request, node, gpus.visible, places, setup.warnings));
  gpus.per_rank = gpus_per_rank(request, gpus.visible, ranks);
  if (gpus.found.cut && !gpus.cpu_only) setup.node_warnings.push_back(gpus.found.source);
  if (const auto few = too_few_gpus(setup, starts); !few.empty()) setup.node_warnings.push_back(few);
  const unsigned demanded =
      request.backend == Backend::nccl ? std::max(1U, gpus.per_rank) : request.gpus_per_task.value_or(0);
  return demanded > 0 ? check_gpus(gpus.visible, setup.env, ranks, demanded) : util::Success{};
}

/// Warns where the command's own launcher, or JAX, will not see the ranks as hpcml starts them.
void warn_of_other_launchers(const LaunchRequest& request, bool starts, const InnerLauncher& inner,
                             NodeSetup& setup) {
  if (inner)
    if (auto warning = agent_warning(*inner, setup.world); !warning.empty())
      setup.warnings.push_back(std::move(warning));
  if (starts && model::is_on(request.rank_settings.coordinator))
    setup.warnings.push_back(
        "jax.distributed.initialize() counts the tasks of srun, not the ranks that hpcml launch starts\n"
        "hint: use jax.distributed.initialize(num_processes=int(os.environ[\"WORLD_SIZE\"]), "
        "process_id=int(os.environ[\"RANK\"]))");
}

/// Decides who binds the ranks, and plans their CPUs, GPUs, NICs and variables. `places`: of the visible
/// GPUs.
void plan_ranks(const LaunchRequest& request, const NodeView& node, std::vector<model::GpuLocality> places,
                NodeSetup& setup) {
  const model::Site& site = site_or_none(request);
  BindMode requested = setup.agent ? BindMode::none : request.bind;
  // Outside a job nothing divides the machine, so that two launches would bind to the same cores.
  if (requested == BindMode::automatic && !setup.world.in_job) requested = BindMode::none;
  plan::StepNodeFacts facts = facts_of(request, setup, node);
  facts.live_gpus = std::move(places);
  const auto all = node.cpus.all();
  // What the site keeps from every job is missing in no whole node.
  auto placed = plan::place_node(site, facts);
  for (const auto& finding : placed.remarks.findings)
    setup.node_warnings.insert(setup.node_warnings.begin(), finding.message);
  const auto usable = all.is_subset_of(node.mask) ? all : all - plan::reserved_cpus(placed.value, node.cpus);
  setup.binding =
      decide_binding(requested, node.mask, usable, setup.env, setup.world.layout.local_world_size);
  facts.allowed = setup.binding.plan_from & all;
  facts.owns_node = setup.binding.owns_node;
  setup.plan = plan::plan_node(site, placed.value, facts,
                               {setup.gpus.per_rank, request.cpus_per_task, request.gpu_visibility,
                                dataloader_workers(setup.env), request.threads_per_core, request.idle_cores});
}

} // namespace

Result<NodeSetup> plan_node_setup(const LaunchRequest& request, const LaunchRole& role, const NodeView& node,
                                  const util::EnvSnapshot& env, const InnerLauncher& inner) {
  const model::Site& site = site_or_none(request);
  NodeSetup setup;
  setup.world = first_world(role);
  setup.env = env;
  setup.env.unset(store::k_job_secret_variable); // programs get no key
  setup.cpus = node.cpus;
  setup.mask = node.mask;
  setup.agent = setup.world.layout.local_world_size == 1 && inner;
  warn_of_other_launchers(request, starts_ranks(role), inner, setup);
  std::vector<model::GpuLocality> places;
  TRY_DONE(find_gpus(request, node, starts_ranks(role), setup, places));
  setup.backend =
      setup.gpus.cpu_only && request.backend == Backend::automatic ? Backend::gloo : request.backend;
  plan_ranks(request, node, std::move(places), setup);
  if (const auto bound = thread_binding(env); !bound.empty() && !setup.agent) setup.warnings.push_back(bound);
  settle_interfaces(setup, site, node.interfaces);
  settle_gloo_interface(setup, node.network);
  settle_limits(setup, node, request.site ? site.network.fabric : node.site_fabric);
  if (!request.profile_hash.empty() && request.site && request.profile_hash != site.hash)
    setup.warnings.push_back(fmt::format(
        "the script was generated with version {} of the site profile '{}', but version {} is used here\n"
        "hint: run hpcml gen again to update the script",
        request.profile_hash, site.id, site.hash));
  return setup;
}

} // namespace hpcml::launch
