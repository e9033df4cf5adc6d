// SPDX-License-Identifier: MIT
// hpcml affinity --verify: what the ranks on this node really have.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/diagnose/affinity_node.hpp"
#include "core/slurm/step_env.hpp"
#include "core/topo/live_ranks.hpp"
#include "core/topo/render_plan.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {
namespace {

using model::IdSet;

/// How many ranks were started on this node: as the ranks or their step say, but all that are seen.
unsigned count_ranks(const topo::LiveRanks& live) {
  unsigned count = live.ranks.back().local_rank + 1;
  const auto local_size = util::parse_unsigned(live.env.get_or("LOCAL_WORLD_SIZE", ""));
  if (local_size && *local_size <= topo::k_most_ranks)
    return std::max(count, static_cast<unsigned>(*local_size));
  if (const auto step = slurm::read_step_layout(live.env); step && slurm::in_step_task(live.env))
    count = std::max(count, step->local_world_size);
  return count;
}

/// Returns the hardware threads per core that the ranks have. A rank that may use every CPU is not bound and
/// does not count.
unsigned threads_per_core(const topo::Node& node, const std::vector<topo::PlacedRank>& ranks) {
  unsigned threads = 1;
  const IdSet all = node.allowed.empty() ? node.cpus.all() : node.allowed;
  for (const auto& rank : ranks) {
    if ((all - node.cpus.reserved).is_subset_of(rank.cpus)) continue;
    for (const auto& core : node.cpus.core_threads)
      threads = std::max(threads, static_cast<unsigned>((core & rank.cpus).size()));
  }
  return threads;
}

/// The plan with what ranks that are right have, so that a drawing marks nothing about them.
topo::AffinityPlan keep_right(topo::AffinityPlan plan, const topo::PlacementReport& report,
                              const std::vector<topo::PlacedRank>& ranks) {
  for (const auto& rank : ranks)
    if (rank.rank < plan.ranks.size() && !topo::is_better(plan, report, rank)) {
      plan.ranks[rank.rank].cpus = rank.cpus;
      plan.ranks[rank.rank].gpus = rank.gpus;
    }
  return plan;
}

void print_result(const std::string& format, const topo::Node& node, const topo::PlacementReport& report,
                  const std::vector<topo::PlacedRank>& ranks, const topo::AffinityPlan& plan,
                  const std::string& threads) {
  if (format == "json") {
    std::fputs(topo::render_report_json(node, report, ranks, plan).c_str(), stdout);
  } else if (format == "svg" || format == "tree") {
    const auto shown = keep_right(plan, report, ranks);
    std::fputs(
        (format == "svg" ? topo::render_svg(node, shown, ranks) : topo::render_tree(node, shown, ranks))
            .c_str(),
        stdout);
    std::fputs(topo::render_missing(report).c_str(), stderr);
  } else {
    print_output(topo::render_node_line(node) + topo::render_report(report, ranks) + threads);
    for (const auto& rank : ranks)
      if (topo::is_better(plan, report, rank))
        std::printf("rank %u: hpcml would give it CPUs %s: %s\n", rank.rank,
                    plan.ranks[rank.rank].cpus.to_list().c_str(), plan.ranks[rank.rank].why.c_str());
    if (const auto fix = topo::render_fix(report, ranks, plan); !fix.empty())
      std::printf("fix: %s\n", fix.c_str());
  }
}

/// What the command line says of GPUs counts for plans: here the ranks have theirs.
AffinityOptions without_gpus(const AffinityOptions& options, topo::Node& node) {
  AffinityOptions left = options;
  std::vector<std::string> flags;
  if (options.order != "gpu") flags.emplace_back("--rank-order");
  if (!options.gpus.empty()) flags.emplace_back("--gpus");
  if (options.ranks_per_gpu > 0) flags.emplace_back("--ranks-per-gpu");
  if (!flags.empty())
    node.notes.push_back(
        fmt::format("--verify ignores {}, because it checks the GPUs that the running ranks have",
                    util::join(flags, ", ")));
  left.order = "gpu";
  left.gpus.clear();
  left.gpus_per_rank = left.ranks_per_gpu = 0;
  return left;
}

} // namespace

void run_verify(const AffinityOptions& options, topo::Node& node, const Context& context,
                CommandErrorReporter& failure, int& exit_code) {
  if (options.policy != "hpcml")
    return failure.print(
        k_usage, "--verify and --policy cannot be used together",
        "remove --policy to verify the running ranks, or --verify to show another tool's placement");
  const auto live = topo::read_live_ranks(context.env);
  if (live.ranks.empty())
    return failure.print(k_world_failed,
                         "no rank runs on this node: no process has LOCAL_RANK, or SLURM_LOCALID of a step, "
                         "in its environment",
                         "run srun --jobid JOB --overlap hpcml affinity --verify to check a node of a job");
  AffinityOptions wanted = without_gpus(options, node);
  wanted.ranks = std::max(options.ranks, count_ranks(live));
  // The kernel lets no rank out of the job's CPUs; a step that only looks may have fewer.
  for (const auto& rank : live.ranks)
    if (!node.allowed.empty()) node.allowed = node.allowed | (rank.cpus & node.cpus.all());
  auto request = read_affinity_request(wanted, node, failure);
  if (!request) return;
  request->own_gpus = topo::gpus_of_ranks(node, live.ranks, wanted.ranks, options.gpus_per_rank);
  std::vector<topo::PlacedRank> ranks;
  std::string threads;
  std::vector<bool> runs(wanted.ranks, false);
  for (const auto& rank : live.ranks) {
    runs[rank.local_rank] = true;
    ranks.push_back({rank.local_rank, request->own_gpus[rank.local_rank], rank.cpus, rank.nic, rank.memory});
    for (const auto& cpus : rank.others)
      threads += fmt::format("rank {}: some of its threads have CPUs {}\n", rank.local_rank, cpus.to_list());
  }
  if (options.threads_per_core == 0) request->threads_per_core = threads_per_core(node, ranks);
  const auto plan = topo::plan_affinity(node, *request);
  if (!plan) return failure.print(k_cannot_satisfy, plan.error());
  node.notes.insert(node.notes.end(), live.notes.begin(), live.notes.end());
  for (const auto& note : node.notes) print_note(fmt::format("note: {}", note));
  auto report = topo::check_placement(node, ranks);
  for (unsigned rank = 0; rank < wanted.ranks; ++rank)
    if (!runs[rank]) report.missing.push_back(rank);
  print_result(options.format, node, report, ranks, *plan, threads);
  const bool wrong =
      std::any_of(ranks.begin(), ranks.end(), [&](const auto& rank) { return report.wrong(rank.rank); });
  if (wrong || !report.missing.empty()) exit_code = k_findings;
}

} // namespace hpcml::cli
