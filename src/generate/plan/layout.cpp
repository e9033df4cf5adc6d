// SPDX-License-Identifier: MIT
#include "generate/plan/layout.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "generate/plan/site_violations.hpp"

namespace hpcml::plan {
namespace {

/// Returns the GPUs per node if the request has no number: one per task if the number of tasks is set and the
/// site shares nodes; else all, unless that exceeds the limit of a job. Parts of several nodes are not meant.
PlanStepResult<unsigned> usual_gpus(const RequestWithPlacement& input, unsigned nodes) {
  const auto& job = input.job;
  const unsigned have = input.node()->gpu ? input.node()->gpu->per_node : 0;
  if (have == 0) return {0};
  unsigned gpus = have;
  const auto& most = input.limit(&model::Limits::max_gpus);
  if (most && nodes == 1) gpus = std::min(gpus, most->value);
  if (input.owns_nodes()) {
    PlanStepResult<unsigned> whole{gpus};
    if (counts_all_but_gpus(job))
      whole.remarks.report(
          "request/gpus-per-node",
          fmt::format(
              "planning whole nodes with {} each: the request has cores and memory but no GPUs, and the "
              "profile has no partition for jobs without GPUs",
              util::counted(have, "GPU")),
          input.site.other_partitions.empty()
              ? "set --gpus-per-node N for a job with GPUs, or add a CPU partition to your own profile "
                "(docs/guides/site-profiles.md)"
              : "use --partition NAME if the site has one for CPU jobs, or --gpus-per-node N for a job with "
                "GPUs");
    return whole;
  }
  const auto& rule = site_rules::gpu_rule(input.site, input.placement.place.facts);
  const unsigned per_rank = job.gpus_per_task ? job.gpus_per_task->value : 1;
  bool by_ranks = false;
  if (job.tasks_per_node) {
    const unsigned wanted = job.tasks_per_node->value * per_rank;
    by_ranks = wanted < gpus && wanted > 0 && site_rules::gpu_count_faults(rule, nodes, wanted, have).empty();
    if (by_ranks) gpus = wanted;
  }
  PlanStepResult<unsigned> result{gpus};
  const auto count = (gpus == have ? "all " : "") + util::counted(gpus, "GPU");
  result.remarks.report(
      "request/gpus-per-node",
      by_ranks
          ? fmt::format("using {} per node, {} per rank, because no GPU count was given", count, per_rank)
          : fmt::format("using {} per node, because no GPU count was given", count),
      rule.must_request ? "set --gpus-per-node N" : "set --gpus-per-node N (0 for a CPU job)");
  return result;
}

PlanStepResult<unsigned> count_gpus(const RequestWithPlacement& input, unsigned nodes) {
  if (input.gpus_per_node()) return {input.gpus_per_node()->value};
  if (input.node()) return usual_gpus(input, nodes);
  PlanStepResult<unsigned> none{0};
  if (input.site.node_types.empty() || (input.partition() && !input.partition()->cpu_only))
    none.remarks.error(
        "usage/gpus-per-node",
        fmt::format("the profile of {} does not state how many GPUs a node{} has", input.site.name,
                    input.partition() ? fmt::format(" of partition {}", input.partition()->name) : ""),
        "set --gpus-per-node N (0 for a CPU job)");
  return none;
}

/// The ranks of a node.
struct RankCount {
  unsigned per_node = 1;
  unsigned gpus_each = 0;
};

/// More ranks than GPUs: NCCL refuses two on one GPU, and a program that takes GPU number LOCAL_RANK finds
/// none.
void report_shared_gpus(const model::JobSpec& job, unsigned ranks, unsigned gpus,
                        PlanStepDiagnostics& diagnostics) {
  const auto& backend = job.backend;
  const auto counted_gpus = util::counted(gpus, "GPU");
  if (backend && backend->value == model::Backend::gloo)
    return diagnostics.note(
        fmt::format("{} ranks share {} of each node: --backend gloo supports this, and NCCL "
                    "would need one GPU for each rank",
                    ranks, counted_gpus),
        job.tasks_per_node->origin);
  const auto hint = fmt::format(
      "use --tasks-per-node {} for one rank per GPU, or --backend gloo if ranks share GPUs on purpose", gpus);
  const auto why = fmt::format("{} ranks share {} of each node, but NCCL rejects two ranks on one GPU, and "
                               "set_device(LOCAL_RANK) fails from local rank {} on",
                               ranks, counted_gpus, gpus);
  if (backend && backend->value == model::Backend::nccl)
    diagnostics.error("request/tasks-per-node", why, hint);
  else
    diagnostics.warning("request/tasks-per-node", why, hint);
}

/// "1, 2, 4 or 8".
std::string divisors_of(unsigned number) {
  std::string text = "1";
  for (unsigned divisor = 2; divisor <= number; ++divisor)
    if (number % divisor == 0) text += (divisor == number ? " or " : ", ") + std::to_string(divisor);
  return text;
}

void check_gpus_per_rank(unsigned per_rank, unsigned gpus, PlanStepDiagnostics& diagnostics) {
  if (per_rank <= gpus) return;
  diagnostics.error(
      "request/gpus-per-task",
      fmt::format("--gpus-per-task {} exceeds the GPUs per node of the job ({})", per_rank, gpus),
      gpus == 0
          ? fmt::format("remove --gpus-per-task for a CPU job, or set --gpus-per-node {}", per_rank)
          : fmt::format("use at most --gpus-per-task {}, or --gpus-per-node {} if the nodes have that many",
                        gpus, per_rank));
}

PlanStepResult<RankCount> count_ranks(const model::JobSpec& job, unsigned gpus) {
  PlanStepResult<RankCount> result;
  auto& [ranks, diagnostics] = result;
  const unsigned per_rank = job.gpus_per_task ? job.gpus_per_task->value : 0;
  check_gpus_per_rank(per_rank, gpus, diagnostics);
  if (job.tasks_per_node)
    ranks.per_node = job.tasks_per_node->value;
  else
    ranks.per_node = gpus == 0 ? 1 : std::max(1u, gpus / std::max(1u, per_rank));
  if (ranks.per_node == 0) {
    diagnostics.error("usage/tasks-per-node",
                      "--tasks-per-node 0 is not valid: a node needs at least one rank",
                      "use --tasks-per-node 1 or more");
    ranks.per_node = 1;
  }
  ranks.gpus_each = per_rank ? per_rank : gpus == 0 ? 0 : std::max(1u, gpus / ranks.per_node);
  if (per_rank > 0 && per_rank <= gpus && ranks.per_node * per_rank > gpus)
    diagnostics.error(
        "request/gpus-per-task",
        fmt::format("{} ranks per node with {} each need {} GPUs per node, but the job has {}",
                    ranks.per_node, util::counted(per_rank, "GPU"), ranks.per_node * per_rank, gpus),
        fmt::format("use at most --tasks-per-node {}, or --gpus-per-node {} if the nodes have that many",
                    gpus / per_rank, ranks.per_node * per_rank));
  if (gpus > 0 && ranks.per_node > gpus && per_rank == 0)
    report_shared_gpus(job, ranks.per_node, gpus, diagnostics);
  else if (gpus > ranks.per_node * ranks.gpus_each)
    diagnostics.warning(
        per_rank ? "request/gpus-per-task" : "request/tasks-per-node",
        fmt::format("{} of the {} GPUs of each node are unused: the job has {} per node with {} each",
                    gpus - ranks.per_node * ranks.gpus_each, gpus, util::counted(ranks.per_node, "rank"),
                    util::counted(ranks.gpus_each, "GPU")),
        per_rank ? fmt::format("set --gpus-per-task and --tasks-per-node so that their product is {}", gpus)
                 : fmt::format("use --tasks-per-node {}", divisors_of(gpus)));
  return result;
}

/// Returns the default number of cores per rank: the site's share per GPU, else an equal part of the node; 0
/// if the profile does not describe the node.
unsigned default_cores(const RequestWithPlacement& input, const model::PlannedLayout& layout) {
  if (!input.node()) return 0;
  const model::NodeType& node = *input.node();
  if (node.cpu.cores == 0) // the share of a GPU may be known where the whole is not
    return node.cpus_per_gpu && layout.gpus_per_node > 0
               ? std::max(1u, *node.cpus_per_gpu * layout.gpus_per_node / layout.ranks_per_node)
               : 0;
  const unsigned fair = std::max(1u, site_rules::usable_cores(node) / layout.ranks_per_node);
  if (layout.gpus_per_node == 0) return input.owns_nodes() ? fair : 1;
  if (node.cpus_per_gpu)
    return std::max(1u, std::min(fair, *node.cpus_per_gpu * layout.gpus_per_node / layout.ranks_per_node));
  if (!node.gpu || node.gpu->per_node == 0) return fair;
  return std::max(1u, std::min(fair, site_rules::usable_cores(node) * layout.gpus_per_node /
                                         (node.gpu->per_node * layout.ranks_per_node)));
}

/// Hardware threads as asked for. More than the profile shows is a warning only: where it says nothing of
/// them, it shows one.
PlanStepResult<model::Known<unsigned>> read_hardware_threads(const RequestWithPlacement& input,
                                                             const site_rules::JobFacts& facts) {
  PlanStepResult<model::Known<unsigned>> result{input.job.threads_per_core};
  auto& [threads, diagnostics] = result;
  const model::SbatchOptionRule& rule = site_rules::sbatch_option_rule(input.site, "threads-per-core", facts);
  if (const auto usual = util::parse_unsigned(rule.default_value); usual && !threads) {
    threads = model::Sourced<unsigned>{static_cast<unsigned>(*usual), rule.origin};
    diagnostics.note(fmt::format("the job uses {} per core, the default of {}{}; use --threads-per-core to "
                                 "change the number",
                                 util::counted(*usual, "hardware thread"), input.site.name,
                                 rule.why.empty() ? "" : " (" + rule.why + ")"),
                     rule.origin);
  }
  const auto* node = input.node();
  if (threads && threads->value == 0) {
    diagnostics.error("usage/threads-per-core",
                      "--threads-per-core 0 is not valid: a core has at least one hardware thread",
                      "use --threads-per-core 1 or more");
    threads.reset();
  } else if (threads && node && threads->value > 1 && model::possible_threads_per_core(*node) == 1) {
    diagnostics.error("usage/threads-per-core",
                      fmt::format("--threads-per-core {} is not possible: cores of node type {} have one "
                                  "hardware thread",
                                  threads->value, node->id),
                      "remove --threads-per-core", node->origin);
    threads.reset();
  } else if (threads && node && threads->value > node->cpu.threads_per_core) {
    diagnostics.warning(
        "request/threads-per-core",
        fmt::format(
            "--threads-per-core {} exceeds the {} per core that node type {} has in the profile of {}",
            threads->value, util::counted(node->cpu.threads_per_core, "hardware thread"), node->id,
            input.site.name),
        fmt::format(
            "use --threads-per-core {}, or check ThreadsPerCore in 'scontrol show node': Slurm rejects a "
            "job that exceeds it",
            node->cpu.threads_per_core),
        node->origin);
  }
  return result;
}

} // namespace

site_rules::JobFacts facts_of(const model::Site& site, const Placement& placement,
                              const model::PlannedLayout& numbers, const JobTraits& kind) {
  const auto* partition = placement.place.partition();
  site_rules::JobFactsInput job;
  job.nodes = numbers.nodes_requested();
  job.gpus_per_node = numbers.gpus_per_node;
  job.partition = partition ? partition->name : placement.partition;
  job.launcher = kind.launcher;
  job.container = kind.leaves_host;
  job.node_type = placement.node_type;
  job.gpu_type = placement.gpu_type;
  job.qos = placement.qos;
  job.owns_nodes = kind.owns_nodes;
  job.image = kind.image;
  return site_rules::make_facts(site, job);
}

PlanStepResult<Layout> plan_layout(const RequestWithPlacement& input) {
  const model::JobSpec& job = input.job;
  Layout layout;
  auto& numbers = layout.numbers;
  numbers.nodes = job.nodes ? job.nodes->value : 1;
  numbers.spare_nodes = job.spare_nodes ? job.spare_nodes->value : 0;
  auto gpus = count_gpus(input, numbers.nodes_requested());
  numbers.gpus_per_node = numbers.gpus_held = gpus.value;
  if (input.owns_nodes() && input.node() && input.node()->gpu)
    numbers.gpus_held = std::max(gpus.value, input.node()->gpu->per_node);
  auto ranks = count_ranks(job, gpus.value);
  numbers.ranks_per_node = ranks.value.per_node;
  numbers.gpus_per_rank = ranks.value.gpus_each;
  numbers.tasks_per_node = input.request.spawns_ranks() ? 1 : numbers.ranks_per_node;
  numbers.cpus_per_rank =
      input.cpus_per_task() ? input.cpus_per_task()->value : default_cores(input, numbers);
  layout.facts =
      facts_of(input.site, input.placement, numbers,
               {input.request.launcher.name(), leaves_host(job, input.request.images),
                input.placement.place.owner, job.container ? job.container->value : std::string()});
  auto threads = read_hardware_threads(input, layout.facts);
  layout.threads_per_core = threads.value;
  if (threads.value) numbers.threads_per_core = threads.value->value;

  PlanStepDiagnostics diagnostics;
  const RequestWithLayout done(input, layout);
  const SiteViolations violations(done, demand_of(done));
  using site_rules::PlanningStep;
  if (numbers.nodes == 0)
    diagnostics.error("usage/nodes", "--nodes 0 is not valid: a job needs at least one node",
                      "use --nodes 1 or more");
  violations.report(diagnostics, PlanningStep::nodes);
  add(diagnostics, std::move(gpus.remarks));
  violations.report(diagnostics, PlanningStep::gpus);
  add(diagnostics, std::move(ranks.remarks));
  if (numbers.cpus_per_rank == 0 && input.cpus_per_task())
    diagnostics.error("usage/cpus-per-task", "--cpus-per-task 0 is not valid: a rank needs at least one core",
                      "use --cpus-per-task 1 or more");
  violations.report(diagnostics, PlanningStep::cpus);
  add(diagnostics, std::move(threads.remarks));
  return {std::move(layout), std::move(diagnostics)};
}

bool RequestWithLayout::gpus_by_task() const {
  return gpu_request().style == model::GpuOptionStyle::gpus_per_task && numbers().gpus_per_node > 0 &&
         numbers().tasks_per_node > 1;
}

std::string RequestWithLayout::with_numbers(std::string text) const {
  const model::PlannedLayout& all = numbers();
  const std::pair<const char*, unsigned> values[] = {
      {"{nodes}", all.nodes},
      {"{tasks}", all.nodes * all.tasks_per_node},
      {"{tasks_per_node}", all.tasks_per_node},
      {"{gpus_per_node}", all.gpus_per_node},
      {"{gpus_per_task}", all.gpus_per_rank},
      {"{cpus_per_task}", all.cpus_per_rank},
  };
  for (const auto& [name, value] : values)
    text = util::replace_all(std::move(text), name, std::to_string(value));
  return text;
}

} // namespace hpcml::plan
