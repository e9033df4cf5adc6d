// SPDX-License-Identifier: MIT
// hpcml affinity: which rank gets which GPUs, cores, memory and NIC, on a site's node, a recorded one, or
// this one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "cli/affinity_node.hpp"
#include "cli/command.hpp"
#include "model/gpu_vendor.hpp"
#include "topo/compat.hpp"
#include "topo/live_ranks.hpp"
#include "topo/mask_text.hpp"
#include "topo/render_plan.hpp"
#include "util/text.hpp"

namespace hpcml::cli {
namespace {

const char* const k_footer = R"(Examples:
  hpcml affinity --site lumi --cpus-per-rank 7
  hpcml affinity --topology node.xml --ranks 4 --format cpu-bind
  hpcml affinity --site lumi --policy torch-exclusive
  hpcml affinity live --site lumi               (this node, held against the site's profile)
  srun --jobid 1234 --overlap hpcml affinity --site lumi --verify

A topology is hwloc XML (lstopo node.xml), an NCCL topology file, or JSON:
  {"sockets": 1, "cores": 4, "smt": 2, "smt_sibling": "n+4", "numa": {"0": "0-1,4-5", "1": "2-3,6-7"},
   "gpu": {"0": {"pci": "0000:c1:00.0", "numa": 1}, "1": {"numa": 0}}, "links": [[0, 1, 4]], "nic": {"hsn0": {"numa": 0}}, "reserved": "0,4"})";

bool read_list(const std::string& flag, const std::string& text, model::IdSet& set, Failure& failure) {
  const auto read = model::IdSet::parse_list(text);
  if (read)
    set = *read;
  else
    failure.say(k_usage, flag + " " + text + ": " + read.error().what, read.error().hint);
  return read.ok();
}

std::optional<topo::AffinityRequest> make_request(const AffinityOptions& options, topo::Node& node,
                                                  Failure& failure) {
  topo::AffinityRequest request;
  request.visible = options.gpus.empty() ? std::vector<std::string>() : util::split(options.gpus, ',');
  const auto visible = topo::visible_gpus(node, request.visible);
  if (!visible) {
    failure.say(k_cannot_satisfy, visible.error());
    return std::nullopt;
  }
  const std::size_t gpus = visible->size();
  request.ranks = options.ranks ? options.ranks : static_cast<unsigned>(std::max<std::size_t>(1, gpus));
  request.gpus_per_rank = options.gpus_per_rank;
  request.cpus_per_rank = options.cpus_per_rank;
  request.threads_per_core = options.threads_per_core;
  request.ranks_per_gpu = options.ranks_per_gpu;
  request.whole_domain = options.whole;
  request.balanced = options.balanced;
  request.spill = options.spill == "package";
  static const std::map<std::string, topo::PoolLevel> levels = {{"l3", topo::PoolLevel::l3},
                                                                {"numa", topo::PoolLevel::numa},
                                                                {"package", topo::PoolLevel::package},
                                                                {"node", topo::PoolLevel::node}};
  if (const auto level = levels.find(options.domain); level != levels.end()) request.level = level->second;
  auto order = model::GpuOrder::parse(options.order);
  if (!order) {
    failure.say(k_usage, "--rank-order: " + order.error().what, order.error().hint);
    return std::nullopt;
  }
  request.order = std::move(*order);
  if (!read_list("--allowed", options.allowed, request.allowed, failure)) return std::nullopt;
  model::IdSet reserved;
  if (!read_list("--reserved", options.reserved, reserved, failure)) return std::nullopt;
  node.cpus.reserved = node.cpus.reserved | reserved;
  if (const auto unknown = request.allowed - node.cpus.all(); !unknown.empty()) {
    failure.say(k_cannot_satisfy, "the node has no CPUs " + unknown.to_list(),
                "its CPUs are " + node.cpus.all().to_list());
    return std::nullopt;
  }
  if (request.gpus_per_rank > 0 && std::size_t{request.ranks} * request.gpus_per_rank > gpus) {
    failure.say(k_cannot_satisfy,
                std::to_string(request.ranks) + " ranks with " + std::to_string(request.gpus_per_rank) +
                    " GPUs each need more than the node's " + std::to_string(gpus),
                "without --gpus-per-rank ranks share GPUs");
    return std::nullopt;
  }
  return request;
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
  auto plan = topo::plan_compat(node, compat);
  if (!plan) return plan.error();
  return std::move(plan->plan);
}

/// What another tool's placement would do wrong here.
std::string judge(const topo::Node& node, const topo::AffinityPlan& plan) {
  std::vector<topo::Placed> ranks;
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

/// A rank's GPUs as indices of the node: those its variable names, else the one of its own number.
std::vector<unsigned> gpus_of(const topo::LiveRank& rank, const topo::Node& node) {
  std::vector<std::string> uuids;
  for (const auto& gpu : node.gpus) uuids.push_back(gpu.uuid);
  std::vector<unsigned> gpus;
  for (unsigned i = 0; i < rank.devices.size(); ++i)
    if (const auto index = topo::resolve_visible(util::join(rank.devices, ","), i, uuids))
      gpus.push_back(*index);
  // Several visible devices: the program takes the one of its local rank.
  if (rank.sees_all && rank.local_rank < node.gpus.size()) return {rank.local_rank};
  if (gpus.size() > 1 && rank.local_rank < gpus.size()) return {gpus[rank.local_rank]};
  return gpus;
}

/// What the processes have, judged and compared with the plan.
void run_verify(const AffinityOptions& options, topo::Node& node, const Context& context, Failure& failure,
                int& exit_code) {
  const auto live = topo::read_live_ranks(context.env);
  if (live.ranks.empty())
    return failure.say(k_world_failed, "no process here has LOCAL_RANK, or SLURM_LOCALID in a step, in its environment",
                       "run it beside the job: srun --jobid JOB --overlap hpcml affinity --verify");
  AffinityOptions wanted = options;
  if (wanted.ranks == 0) wanted.ranks = live.ranks.back().local_rank + 1;
  // The kernel lets no rank out of the job's CPUs; a step that only looks may have fewer.
  for (const auto& rank : live.ranks)
    if (!node.allowed.empty()) node.allowed = node.allowed | (rank.cpus & node.cpus.all());
  const auto request = make_request(wanted, node, failure);
  if (!request) return;
  const auto plan = make_plan(wanted, node, *request);
  if (!plan) return failure.say(k_cannot_satisfy, plan.error());
  std::vector<topo::Placed> ranks;
  std::string threads;
  for (const auto& rank : live.ranks) {
    ranks.push_back({rank.local_rank, gpus_of(rank, node), rank.cpus, rank.nic, rank.memory});
    for (const auto& cpus : rank.others)
      threads += "rank " + std::to_string(rank.local_rank) + ": some of its threads have CPUs " +
                 cpus.to_list() + "\n";
  }
  node.notes.insert(node.notes.end(), live.notes.begin(), live.notes.end());
  for (const auto& note : node.notes) std::fprintf(stderr, "hpcml: note: %s\n", note.c_str());
  const auto report = topo::check_placement(node, ranks);
  if (options.format == "svg" || options.format == "tree") {
    std::fputs((options.format == "svg" ? topo::render_svg(node, *plan, ranks)
                                        : topo::render_tree(node, *plan, ranks))
                   .c_str(),
               stdout);
  } else if (options.format == "json") {
    std::fputs(topo::render_report_json(node, report, ranks, *plan).c_str(), stdout);
  } else {
    std::fputs((topo::render_node_line(node) + topo::render_report(report, ranks) + threads).c_str(), stdout);
    for (const auto& rank : ranks)
      if (rank.rank < plan->ranks.size() && !(plan->ranks[rank.rank].cpus == rank.cpus))
        std::printf("rank %u: hpcml would give it CPUs %s: %s\n", rank.rank,
                    plan->ranks[rank.rank].cpus.to_list().c_str(), plan->ranks[rank.rank].why.c_str());
    if (const auto fix = topo::render_fix(ranks, *plan); !fix.empty()) std::printf("fix: %s\n", fix.c_str());
  }
  for (const auto& rank : ranks)
    if (report.wrong(rank.rank)) exit_code = k_findings;
}

/// On a live node the step's GPUs are those of its list of visible devices.
bool take_visible(AffinityOptions& options, const topo::Node& node, const Context& context,
                  Failure& failure) {
  const bool live = options.topology.empty() && (options.site.empty() || options.source == "live");
  if (!live || !options.gpus.empty() || node.gpus.empty()) return true;
  for (const char* name : model::k_visible_devices_variables) {
    const auto list = context.env.get(name);
    if (!list || list->empty()) continue;
    const auto addresses = topo::listed_gpus(node, *list);
    if (!addresses)
      failure.say(k_cannot_satisfy, std::string(name) + "=" + *list + ": " + addresses.error().what,
                  addresses.error().hint);
    else
      options.gpus = util::join(*addresses, ",");
    return addresses.ok();
  }
  return true;
}

void run_affinity(const AffinityOptions& options, const Context& context, int& exit_code) {
  Failure failure(context, exit_code);
  if (options.all_sites) return print_site_tables(context);
  if (!options.source.empty() && (options.source != "live" || !options.topology.empty()))
    return failure.say(k_usage, "the node is one of: live, --site SITE, --topology FILE",
                       "live --site SITE holds this node against the site's profile");
  auto node = read_affinity_node(options, context, failure, exit_code);
  if (!node) return;
  if (options.verify) return run_verify(options, *node, context, failure, exit_code);
  AffinityOptions wanted = options;
  if (!take_visible(wanted, *node, context, failure)) return;
  const auto request = make_request(wanted, *node, failure);
  if (!request) return;
  const auto plan = make_plan(wanted, *node, *request);
  if (!plan) return failure.say(k_cannot_satisfy, plan.error());
  if (plan->ranks.empty())
    return failure.say(k_cannot_satisfy, "none of the node's cores may be used",
                       "reserved are CPUs " + node->cpus.reserved.to_list());
  std::fputs(render(options.format, *node, *plan).c_str(), stdout);
  if (options.policy != "hpcml" && options.format == "table") std::fputs(judge(*node, *plan).c_str(), stdout);
  for (const auto& warning : plan->warnings) std::fprintf(stderr, "hpcml: warning: %s\n", warning.c_str());
  for (const auto& note : node->notes) std::fprintf(stderr, "hpcml: note: %s\n", note.c_str());
  if (options.policy != "hpcml") return;
  const bool short_of_cores = std::any_of(plan->ranks.begin(), plan->ranks.end(), [&](const auto& rank) {
    return rank.cores < std::max(1u, request->cpus_per_rank);
  });
  model::IdSet taken;
  const bool shared = !request->whole_domain && std::any_of(plan->ranks.begin(), plan->ranks.end(), [&](const auto& rank) {
    const bool twice = rank.cpus.intersects(taken);
    taken = taken | rank.cpus;
    return twice;
  });
  if (short_of_cores || shared)
    failure.say(
        k_cannot_satisfy,
        "the node has not " +
            (request->cpus_per_rank > 1 ? std::to_string(request->cpus_per_rank) + " cores" : "one core") +
            " for each of " + std::to_string(request->ranks) + " ranks",
        "the plan that was printed is what it has");
}

} // namespace

void add_affinity(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("affinity", "show which rank gets which GPUs, cores, memory and NIC");
  auto options = std::make_shared<AffinityOptions>();
  command->footer(k_footer);
  command->add_option("source", options->source, "live: the node this runs on (default)");
  command->add_option("--site", options->site, "a node of this site");
  command->add_option("--partition", options->partition, "of this partition")->needs("--site");
  command
      ->add_option("--topology", options->topology, "a node from a file: hwloc XML, NCCL topology XML, JSON")
      ->excludes("--site");
  command->add_option("--ranks", options->ranks, "ranks on the node (default: one per GPU)")
      ->check(CLI::Range(1u, 65536u));
  command->add_option("--gpus-per-rank", options->gpus_per_rank, "GPUs per rank");
  command->add_option("--ranks-per-gpu", options->ranks_per_gpu, "neighbouring ranks that share a GPU");
  command->add_option("--cpus-per-rank", options->cpus_per_rank,
                      "physical cores per rank (default: all near its GPU)");
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
      ->add_option("--spill", options->spill,
                   "package: cores of NUMA nodes without GPUs go to ranks of the same package")
      ->check(CLI::IsMember({"none", "package"}));
  command->add_option("--gpus", options->gpus, "only the GPUs at these PCI addresses or buses: c9,ce");
  command->add_option("--allowed", options->allowed, "only these CPUs: 0-15,64-79");
  command->add_option("--reserved", options->reserved, "CPUs to leave to the system, with the profile's");
  command->add_option("--policy", options->policy,
                      "hpcml, or what another tool would do: " + util::join(topo::compat_policies(), ", "));
  command->add_option("--format", options->format, "table, json, cpu-bind (for srun), tree or svg")
      ->check(CLI::IsMember({"table", "json", "cpu-bind", "tree", "svg"}));
  command
      ->add_flag("--all-sites", options->all_sites,
                 "one rank per GPU on the nodes of every site, as Markdown")
      ->excludes("--site");
  command->add_flag("--verify", options->verify,
                    "judge what the ranks that run here really have, and compare with the plan");
  command->callback([options, &context, &exit_code] { run_affinity(*options, context, exit_code); });
}

} // namespace hpcml::cli
