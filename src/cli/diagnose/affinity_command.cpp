// SPDX-License-Identifier: MIT
// hpcml affinity: which rank gets which GPUs, cores, memory and NIC, on a site's node, a recorded one, or
// this one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>

#include "cli/command.hpp"
#include "cli/diagnose/affinity_node.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "core/model/gpu_vendor.hpp"
#include "core/topo/compat.hpp"
#include "core/topo/live_ranks.hpp"
#include "core/topo/mask_text.hpp"
#include "core/topo/render_plan.hpp"
#include "core/topo/unmet_request.hpp"
#include "core/util/text.hpp"
#include "run/resolve/gpus.hpp"

namespace hpcml::cli {
namespace {

constexpr CommandHelp k_affinity_help = {
    .summary = "Show which rank gets which GPUs, cores, memory and NIC",
    .examples = R"(# Ranks with 7 cores each on a node of LUMI
hpcml affinity --site lumi --cpus-per-rank 7
# CPU masks for srun, for a node described by lstopo
hpcml affinity --topology node.xml --ranks 4 --format cpu-bind
# Check the binding of a running job
srun --jobid 1234 --overlap hpcml affinity --site lumi --verify)",
    .notes = R"(A topology is hwloc XML (lstopo node.xml), an NCCL topology file, or JSON:
  {"sockets": 1, "cores": 4, "smt": 2, "smt_sibling": "n+4",
   "numa": {"0": "0-1,4-5", "1": "2-3,6-7"},
   "gpu": {"0": {"pci": "0000:c1:00.0", "numa": 1}, "1": {"numa": 0}},
   "links": [[0, 1, 4]], "nic": {"hsn0": {"numa": 0}}, "reserved": "0,4"})",
    .common = "--site --partition --topology --ranks --gpus-per-rank --cpus-per-rank --rank-order --format "
              "--verify "
              "--all-sites",
};

constexpr const char* k_node_group = "Node";
constexpr const char* k_rank_placement_group = "Placement";

/// Nothing in a list (an unset variable in a script) is not everything.
std::string not_empty(const std::string& list) {
  return list.find_first_not_of(" ,\t") == std::string::npos ? "must not be empty" : "";
}

util::Result<topo::AffinityPlan> make_plan(const AffinityOptions& options, const topo::Node& node,
                                           const topo::AffinityRequest& request) {
  if (options.policy == "hpcml") return topo::plan_affinity(node, request);
  topo::ThirdPartyAffinityRequest compat;
  compat.policy = options.policy;
  compat.ranks = request.ranks;
  compat.allowed = request.allowed;
  compat.threads_per_core = request.threads_per_core;
  compat.cpus_per_rank = request.cpus_per_rank * request.threads_per_core;
  compat.smt = options.threads_per_core;
  compat.min_cores = compat.max_cores = request.cpus_per_rank;
  compat.all_logical = options.threads_per_core != 1;
  // Frontier, whose GPUs hang under L3s, documents these as Slurm's sockets; others have packages.
  compat.l3_as_socket = std::any_of(node.gpus.begin(), node.gpus.end(),
                                    [](const auto& gpu) { return gpu.place.l3.has_value(); });
  const unsigned all = node.cpus.threads_per_core;
  if (options.policy.starts_with("nvidia-") && options.threads_per_core > 1 && options.threads_per_core < all)
    return util::Error{
        fmt::format("--policy {}: NVIDIA's gpu_affinity uses one hardware thread of each core or all "
                    "{}, not {}",
                    options.policy, all, options.threads_per_core),
        fmt::format("use --threads-per-core 1 or {}", all)};
  TRY(auto plan, topo::plan_compat(node, compat));
  return std::move(plan.plan);
}

/// Returns the report on what another tool's placement would do wrong on the node.
std::string evaluate(const topo::Node& node, const topo::AffinityPlan& plan) {
  std::vector<topo::PlacedRank> ranks;
  for (const auto& rank : plan.ranks) ranks.push_back({rank.local_rank, rank.gpus, rank.cpus, rank.nic});
  return topo::render_report(topo::check_placement(node, ranks), ranks);
}

std::string render(const std::string& format, const topo::Node& node, const topo::AffinityPlan& plan) {
  if (format == "json") return topo::render_json(node, plan);
  if (format == "tree") return topo::render_tree(node, plan);
  if (format == "svg") return topo::render_svg(node, plan);
  if (format == "table") return topo::render_table(node, plan);
  std::vector<model::IdSet> masks;
  for (const auto& rank : plan.ranks) masks.push_back(rank.cpus);
  return topo::render_cpu_bind(masks) + "\n";
}

/// On a live node the step's GPUs are those of its list of visible devices.
bool take_visible(AffinityOptions& options, topo::Node& node, const Context& context,
                  CommandErrorReporter& failure) {
  const bool live = options.topology.empty() && (options.site.empty() || options.source == "live");
  if (!live || !options.gpus.empty()) return true;
  for (const char* name : model::k_visible_devices_variables) {
    const auto list = context.env.get(name);
    if (!list || list->empty()) continue;
    const auto entries = launch::split_visible_list(*list);
    if (entries.empty()) {
      if (node.gpus.empty()) return true;
      node.gpus.clear();
      node.links.clear();
      node.notes.push_back(fmt::format(
          "{}={} hides all GPUs, so the plan has none (to change: unset the variable)", name, *list));
      return true;
    }
    const auto set = fmt::format("{}={}", name, *list);
    if (node.gpus.empty()) {
      node.notes.push_back(fmt::format(
          "{} names GPUs, but no driver shows one here: run hpcml affinity on a node with GPUs", set));
      return true;
    }
    if (std::any_of(entries.begin(), entries.end(),
                    [](const auto& entry) { return entry.starts_with("MIG-"); })) {
      node.notes.push_back(fmt::format(
          "{} names MIG instances, which hpcml cannot map to GPUs: planning for all GPUs (to change: --gpus)",
          set));
      return true;
    }
    const auto addresses = topo::listed_gpus(node, util::join(entries, ","));
    if (!addresses)
      failure.print(k_cannot_satisfy, fmt::format("{}: {}", set, addresses.error().what),
                    addresses.error().hint);
    else
      options.gpus = util::join(*addresses, ",");
    return addresses.ok();
  }
  return true;
}

/// Masks come without the reasons that a table has.
void warn_of_masks(const AffinityTargetNode& chosen, const topo::AffinityPlan& plan) {
  if (!chosen.sharing_reason.empty())
    print_note(fmt::format(
        "warning: srun accepts these masks only if the step has the whole node, but {}: use hpcml "
        "launch --bind apply",
        chosen.sharing_reason));
  const auto& cpus = chosen.node.cpus;
  const auto is_lost = [&](const topo::Gpu& gpu) { // one package says nothing of NUMA nodes inside it
    return !gpu.place.l3 && !gpu.place.numa && gpu.cpus.empty() &&
           !(gpu.place.package && cpus.packages.size() > 1) && cpus.numa.size() != 1;
  };
  model::IdSet lost, used;
  for (const auto& rank : plan.ranks) used = used | model::IdSet::of(rank.gpus);
  for (const auto& gpu : chosen.node.gpus)
    if (plan.ranks.size() > 1 && used.contains(gpu.place.index) && is_lost(gpu)) lost.add(gpu.place.index);
  if (!lost.empty())
    print_note(fmt::format(
        "warning: the NUMA nodes of GPUs {} are unknown, so cores may be far from them: use --topology FILE",
        lost.to_list()));
}

void run_affinity(const AffinityOptions& options, const Context& context, int& exit_code) {
  CommandErrorReporter failure(context, exit_code);
  if (options.all_sites) return print_site_tables(context);
  if (!options.source.empty() && !options.topology.empty())
    return failure.print(k_usage, "'live' (this node) cannot be used with --topology (the node of a file)",
                         "remove 'live' or --topology");
  if (!check_policy(options, failure)) return;
  auto chosen = read_affinity_node(options, context, failure, exit_code);
  if (!chosen) return;
  topo::Node* const node = &chosen->node;
  if (options.verify) return run_verify(options, *node, context, failure, exit_code);
  AffinityOptions wanted = options;
  if (!take_visible(wanted, *node, context, failure)) return;
  const auto request = read_affinity_request(wanted, *node, failure);
  if (!request) return;
  const auto plan = make_plan(wanted, *node, *request);
  if (!plan) return failure.print(k_cannot_satisfy, plan.error());
  if (plan->ranks.empty())
    return failure.print(k_cannot_satisfy, "no core of the node is left for ranks",
                         node->cpus.reserved.empty()
                             ? "add CPUs to --allowed, or run hpcml affinity in a step with more CPUs"
                             : fmt::format("check --allowed and the CPUs reserved for the system: {}",
                                           node->cpus.reserved.to_list()));
  const bool cpus_known = !node->cpus.core_threads.empty(), masks = options.format == "cpu-bind";
  if (masks && !cpus_known)
    return failure.print(k_cannot_satisfy, "the CPUs of the node are unknown, so masks cannot be computed",
                         "run hpcml affinity live --format cpu-bind in a job, or use --topology FILE");
  std::fputs(render(options.format, *node, *plan).c_str(), stdout);
  if (masks) warn_of_masks(*chosen, *plan);
  if (options.policy != "hpcml" && options.format == "table")
    std::fputs(evaluate(*node, *plan).c_str(), stdout);
  for (const auto& warning : plan->warnings) print_note(fmt::format("warning: {}", warning));
  for (const auto& note : node->notes) print_note(fmt::format("note: {}", note));
  if (options.policy != "hpcml") return;
  if (const auto lack = topo::unmet_request(*node, *request, *plan))
    failure.print(k_cannot_satisfy, *lack, "use the printed plan, which is what the node has");
}

void add_node_options(CLI::App& app, AffinityOptions& options) {
  app.add_option("NODE", options.source, "Use this node, and compare it with --site")
      ->type_name("")
      ->check(one_of({"live"}));
  app.add_option("--site", options.site, "Use a node of this site")
      ->check(not_empty)
      ->type_name("SITE")
      ->group(k_node_group);
  app.add_option("--partition", options.partition, "Use a node of this partition of the site")
      ->needs("--site")
      ->check(not_empty)
      ->type_name("NAME")
      ->group(k_node_group);
  app.add_option("--topology", options.topology, "Use the node in this file: hwloc XML, NCCL XML or JSON")
      ->excludes("--site")
      ->type_name("FILE")
      ->check(not_empty)
      ->group(k_node_group);
  app.add_option("--gpus", options.gpus, "Use only GPUs at these PCI addresses or buses: c9,ce")
      ->check(not_empty)
      ->type_name("LIST")
      ->group(k_node_group);
  app.add_option("--allowed", options.allowed, "Use only these CPUs: 0-15,64-79")
      ->check(not_empty)
      ->type_name("LIST")
      ->group(k_node_group);
  app.add_option("--reserved", options.reserved,
                 "CPUs to reserve for the system in addition to the profile's")
      ->check(not_empty)
      ->type_name("LIST")
      ->group(k_node_group);
}

void add_placement_options(CLI::App& app, AffinityOptions& options) {
  const auto add_number = [&](const std::string& name, unsigned& target, const std::string& text,
                              unsigned most) {
    return app.add_option(name, target, text)
        ->type_name("N")
        ->check(whole_number(1, most))
        ->group(k_rank_placement_group);
  };
  add_number("--ranks", options.ranks, "Ranks on the node", topo::k_most_ranks)->default_str("one per GPU");
  auto* per_rank = add_number("--gpus-per-rank", options.gpus_per_rank, "GPUs per rank", 4096);
  per_rank->default_str("1");
  add_number("--ranks-per-gpu", options.ranks_per_gpu, "Neighbouring ranks that share a GPU", 4096)
      ->default_str("1")
      ->excludes(per_rank);
  add_number("--cpus-per-rank", options.cpus_per_rank, "Physical cores per rank", 4096)
      ->default_str("all near its GPU");
  add_number("--threads-per-core", options.threads_per_core, "Hardware threads to use of each core", 16)
      ->default_str("1");
  app.add_option("--rank-order,--order", options.order,
                 "Assign GPUs to ranks by gpu, cpu or ring (links), or in a list: 0,1,3,2")
      ->type_name("ORDER")
      ->capture_default_str()
      ->group(k_rank_placement_group);
  app.add_option("--domain", options.domain, "Domain around the GPU that a rank's cores come from")
      ->type_name("DOMAIN")
      ->check(one_of({"l3", "numa", "package", "node"}))
      ->default_str("the smallest")
      ->group(k_rank_placement_group);
  app.add_flag("--whole-domain", options.whole,
               "Give each rank its whole domain, shared with the other ranks there")
      ->group(k_rank_placement_group);
  app.add_flag("--balanced", options.balanced, "Give all ranks the same number of cores")
      ->group(k_rank_placement_group);
  app.add_option("--idle-cores", options.idle_cores,
                 "Use of cores in NUMA nodes without GPUs: none, or ranks of the package")
      ->type_name("USE")
      ->check(one_of(model::words_of<model::IdleCorePolicy>()))
      ->capture_default_str()
      ->group(k_rank_placement_group);
  auto policies = topo::compat_policies();
  policies.insert(policies.begin(), options.policy);
  app.add_option("--policy", options.policy, "Place ranks as hpcml or as another tool does")
      ->type_name("POLICY")
      ->check(one_of(policies))
      ->capture_default_str()
      ->group(k_rank_placement_group);
}

} // namespace

void add_affinity(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "affinity", k_affinity_help);
  auto options = std::make_shared<AffinityOptions>();
  add_format(*command, options->format, {"table", "json", "cpu-bind", "tree", "svg"},
             "Output format; cpu-bind is an option for srun");
  command->add_flag("--verify", options->verify, "Check the binding of the ranks that run on this node");
  add_node_options(*command, *options);
  add_placement_options(*command, *options);
  const auto others = command->get_options();
  auto* all = command->add_flag("--all-sites", options->all_sites,
                                "Print a Markdown table for the nodes of every site; excludes other options");
  for (auto* option : others)
    if (option != command->get_help_ptr()) all->excludes(option);
  command->callback([options, &context, &exit_code] { run_affinity(*options, context, exit_code); });
}

} // namespace hpcml::cli
