// SPDX-License-Identifier: MIT
// hpcml affinity: which rank gets which GPUs, cores, memory and NIC, on a site's node, a recorded one, or
// this one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/diagnose/affinity_node.hpp"
#include "core/model/gpu_vendor.hpp"
#include "core/topo/compat.hpp"
#include "core/topo/live_ranks.hpp"
#include "core/topo/mask_text.hpp"
#include "core/topo/render_plan.hpp"
#include "core/topo/unmet_request.hpp"
#include "core/util/text.hpp"
#include "run/launch/gpus.hpp"

namespace hpcml::cli {
namespace {

const char* const k_affinity_footer = R"(Examples:
  hpcml affinity --site lumi --cpus-per-rank 7
  hpcml affinity --topology node.xml --ranks 4 --format cpu-bind
  hpcml affinity --site lumi --policy torch-exclusive
  hpcml affinity live --site lumi               (this node, held against the site's profile)
  srun --jobid 1234 --overlap hpcml affinity --site lumi --verify

A topology is hwloc XML (lstopo node.xml), an NCCL topology file, or JSON:
  {"sockets": 1, "cores": 4, "smt": 2, "smt_sibling": "n+4", "numa": {"0": "0-1,4-5", "1": "2-3,6-7"},
   "gpu": {"0": {"pci": "0000:c1:00.0", "numa": 1}, "1": {"numa": 0}}, "links": [[0, 1, 4]], "nic": {"hsn0": {"numa": 0}}, "reserved": "0,4"})";

/// Nothing in a list (an unset variable in a script) is not everything.
std::string not_empty(const std::string& list) {
  return list.find_first_not_of(" ,\t") == std::string::npos ? "is empty" : "";
}

util::Result<topo::AffinityPlan> make_plan(const AffinityOptions& options, const topo::Node& node,
                                           const topo::AffinityRequest& request) {
  if (options.policy == "hpcml") return topo::plan_affinity(node, request);
  topo::CompatRequest compat;
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
    return util::Error{"gpu_affinity takes one hardware thread of each core or all " + std::to_string(all) +
                       ", not " + std::to_string(options.threads_per_core)};
  TRY(auto plan, topo::plan_compat(node, compat));
  return std::move(plan.plan);
}

/// What another tool's placement would do wrong here.
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
bool take_visible(AffinityOptions& options, topo::Node& node, const Context& context, ErrorPrinter& failure) {
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
      node.notes.push_back(std::string(name) + "=" + *list + " hides all GPUs");
      return true;
    }
    const std::string set = std::string(name) + "=" + *list;
    if (node.gpus.empty()) {
      node.notes.push_back(set + " names GPUs, but no driver shows one here");
      return true;
    }
    if (std::any_of(entries.begin(), entries.end(),
                    [](const auto& entry) { return entry.starts_with("MIG-"); })) {
      node.notes.push_back(set + " names MIG instances by UUIDs, which only the driver's library knows: all "
                                 "GPUs of the node are shown");
      return true;
    }
    const auto addresses = topo::listed_gpus(node, util::join(entries, ","));
    if (!addresses)
      failure.print(k_cannot_satisfy, set + ": " + addresses.error().what, addresses.error().hint);
    else
      options.gpus = util::join(*addresses, ",");
    return addresses.ok();
  }
  return true;
}

/// Masks come without the reasons that a table has.
void warn_of_masks(const AffinityNode& chosen, const topo::AffinityPlan& plan) {
  if (!chosen.shared.empty())
    print_note("warning: srun takes these masks only where a step has the whole node; " + chosen.shared +
               "; elsewhere hpcml launch binds the ranks");
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
    print_note("warning: where GPU" + std::string(lost.size() == 1 ? " " : "s ") + lost.to_list() +
               " hang is not known: the masks deal out cores by number, near to them or far");
}

void run_affinity(const AffinityOptions& options, const Context& context, int& exit_code) {
  ErrorPrinter failure(context, exit_code);
  if (options.all_sites) return print_site_tables(context);
  if (!options.source.empty() && (options.source != "live" || !options.topology.empty()))
    return failure.print(k_usage, "the node is one of: live, --site SITE, --topology FILE",
                         "live --site SITE holds this node against the site's profile");
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
    return failure.print(k_cannot_satisfy, "none of the node's cores may be used",
                         node->cpus.reserved.empty() ? ""
                                                     : "reserved are CPUs " + node->cpus.reserved.to_list());
  const bool cpus_known = !node->cpus.core_threads.empty(), masks = options.format == "cpu-bind";
  if (masks && !cpus_known)
    return failure.print(k_cannot_satisfy, "the node's CPUs are not known, so there are no masks",
                         "hpcml affinity live in a job shows them");
  std::fputs(render(options.format, *node, *plan).c_str(), stdout);
  if (masks) warn_of_masks(*chosen, *plan);
  if (options.policy != "hpcml" && options.format == "table")
    std::fputs(evaluate(*node, *plan).c_str(), stdout);
  for (const auto& warning : plan->warnings) print_note("warning: " + warning);
  for (const auto& note : node->notes) print_note("note: " + note);
  if (options.policy != "hpcml") return;
  if (const auto lack = topo::unmet_request(*node, *request, *plan))
    failure.print(k_cannot_satisfy, *lack, "the plan that was printed is what it has");
}

} // namespace

void add_affinity(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("affinity", "show which rank gets which GPUs, cores, memory and NIC");
  auto options = std::make_shared<AffinityOptions>();
  command->footer(k_affinity_footer);
  command->add_option("source", options->source, "live: the node this runs on (default)");
  command->add_option("--site", options->site, "a node of this site")->check(not_empty)->type_name("SITE");
  command->add_option("--partition", options->partition, "of this partition")
      ->needs("--site")
      ->check(not_empty);
  command
      ->add_option("--topology", options->topology, "a node from a file: hwloc XML, NCCL topology XML, JSON")
      ->excludes("--site")
      ->type_name("FILE")
      ->check(not_empty);
  command
      ->add_option(
          "--ranks", options->ranks,
          "ranks on the node (default: one per GPU, or as --gpus-per-rank or --ranks-per-gpu have it)")
      ->check(CLI::Range(1u, topo::k_most_ranks));
  auto* per_rank = command->add_option("--gpus-per-rank", options->gpus_per_rank, "GPUs per rank")
                       ->check(CLI::Range(1u, 4096u));
  command->add_option("--ranks-per-gpu", options->ranks_per_gpu, "neighbouring ranks that share a GPU")
      ->check(CLI::Range(1u, 4096u))
      ->excludes(per_rank);
  command
      ->add_option("--cpus-per-rank", options->cpus_per_rank,
                   "physical cores per rank (default: all near its GPU)")
      ->check(CLI::Range(1u, 4096u));
  command->add_option("--threads-per-core", options->threads_per_core, "hardware threads of each core")
      ->check(CLI::Range(1u, 16u));
  command->add_option(
      "--rank-order,--order", options->order,
      "ranks by gpu, by cpu, along the links between GPUs (ring), or GPU numbers in rank order: 0,1,3,2");
  command->add_option("--domain", options->domain, "cores come from the GPU's l3, numa, package or the node")
      ->check(CLI::IsMember({"l3", "numa", "package", "node"}));
  command->add_flag("--whole-domain", options->whole,
                    "each rank gets the whole domain, shared with the others there");
  command->add_flag("--balanced", options->balanced, "no rank gets more cores than another");
  command
      ->add_option("--idle-cores", options->idle_cores,
                   "package: cores of NUMA nodes without GPUs go to ranks of the same package")
      ->check(CLI::IsMember({"none", "package"}));
  command->add_option("--gpus", options->gpus, "only the GPUs at these PCI addresses or buses: c9,ce")
      ->check(not_empty);
  command->add_option("--allowed", options->allowed, "only these CPUs: 0-15,64-79")->check(not_empty);
  command->add_option("--reserved", options->reserved, "CPUs to leave to the system, with the profile's")
      ->check(not_empty);
  command->add_option("--policy", options->policy,
                      "hpcml, or what another tool would do: " + util::join(topo::compat_policies(), ", "));
  command->add_option("--format", options->format, "table, json, cpu-bind (for srun), tree or svg")
      ->check(CLI::IsMember({"table", "json", "cpu-bind", "tree", "svg"}));
  command->add_flag("--verify", options->verify,
                    "judge what the ranks that run here really have, and compare with the plan");
  const auto others = command->get_options();
  auto* all = command->add_flag("--all-sites", options->all_sites,
                                "one rank per GPU on the nodes of every site, as Markdown; alone");
  for (auto* option : others)
    if (option != command->get_help_ptr()) all->excludes(option);
  command->callback([options, &context, &exit_code] { run_affinity(*options, context, exit_code); });
}

} // namespace hpcml::cli
