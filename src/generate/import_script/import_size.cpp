// SPDX-License-Identifier: MIT
// The same world on the new site's nodes: as many ranks with as many GPUs each.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/model/launcher.hpp"
#include "core/model/launcher_row.hpp"
#include "core/site_rules/facts.hpp"
#include "core/site_rules/placement.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/import_numbers.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/listed_gpus.hpp"

namespace hpcml::import_script {
namespace {

diag::TextRange place_of_launch(const FoundLaunch& found) { return {found.begin, found.end - found.begin}; }

/// Whether the agent starts the other nodes by itself.
bool reaches_nodes(const check::Link& agent) {
  const auto* launcher = model::find_launcher(agent.program);
  return launcher && launcher->uses_ssh;
}

class SizePorter {
public:
  SizePorter(ImportState& porting, const slurm::JobOptions& request, const SizeEvaluator& sizes,
             std::vector<FoundLaunch>& programs)
      : x_porting(porting), x_request(request), x_sizes(sizes), x_programs(programs),
        x_job(porting.result.job) {}

  void port() {
    const auto main = choose_main();
    auto shape = shape_of(x_programs[main], x_sizes);
    x_porting.old_nodes = shape.nodes;
    auto& found = x_programs[main];
    mark_others(main, shape);
    if (!find_gpus(found, shape)) return;
    if (found.in_batch || (shape.nodes > 1 && found.bare())) {
      shape = shape_of_batch(found, shape);
      if (!found.in_batch) found.program.once = true;
    } else if (shape.nodes > 1 && !found.launch->step()) {
      port_without_step(found, shape);
    }
    if (shape.gpus_per_node == 0) warn_without_gpus(found);
    if (shape.gpus_per_node == 0) return port_cpu_job(shape);
    if (!check_ranks(found, shape)) return;
    record(shape, shape.gpus_per_node);
    spread(found, shape);
    show_gpus(found, shape);
  }

private:
  model::Origin origin(const std::string& what) const { return x_porting.origin(what); }
  model::Sourced<unsigned> number(unsigned value, const char* what) const { return {value, origin(what)}; }

  /// The program that the job is for: the one with most ranks.
  std::size_t choose_main() {
    std::size_t best = 0;
    unsigned most = 0;
    for (std::size_t i = 0; i < x_programs.size(); ++i) {
      const auto shape = shape_of(x_programs[i], x_sizes);
      const auto ranks =
          x_programs[i].program.once || x_programs[i].is_helper ? 0 : shape.nodes * shape.ranks_per_node;
      if (i == 0 || ranks > most) {
        best = i;
        most = ranks;
      }
    }
    return best;
  }

  /// The other programs run once, once per node, or as wide as the main one.
  void mark_others(std::size_t main, const LaunchLayout& shape) {
    if (x_programs[main].program.once && shape.nodes <= 1) x_programs[main].program.once = false;
    for (std::size_t i = 0; i < x_programs.size(); ++i) {
      auto& program = x_programs[i];
      if (i == main || program.in_batch || program.program.once || program.bare()) continue;
      const auto its = shape_of(program, x_sizes);
      if (its.ranks_per_node == shape.ranks_per_node && its.nodes == shape.nodes) continue;
      if (its.ranks_per_node == 1 && its.nodes == 1 && !program.launch->agent())
        program.program.once = true;
      else if (its.ranks_per_node == 1 && !program.launch->agent())
        program.program.per_node = true;
      else
        report_size(program, its, shape);
    }
  }

  /// All steps of the new script have the ranks of the job, which only matters to programs.
  void report_size(const FoundLaunch& program, const LaunchLayout& its, const LaunchLayout& shape) {
    const auto ranks = [](const LaunchLayout& layout) {
      return util::counted(1ULL * layout.nodes * layout.ranks_per_node, "rank");
    };
    const auto message = fmt::format("'{}' has {}, but every step of the script for {} has {}",
                                     shown_command(program), ranks(its), site_id(), ranks(shape));
    const std::string hint = "use a separate job for each number of ranks";
    if (program.is_helper)
      x_porting.warn(place_of_launch(program), "port/size", message, hint);
    else
      x_porting.error(place_of_launch(program), "port/size", message, hint);
  }

  /// A list of visible devices that names fewer GPUs than the job has: the program uses these.
  void use_listed_gpus(const FoundLaunch& found, LaunchLayout& shape) {
    const auto listed = listed_gpus(found);
    if (listed == 0 || listed >= shape.gpus_per_node || listed < shape.ranks_per_node) return;
    x_porting.note(
        place_of_launch(found), "port/gpus",
        fmt::format("the old script shows its programs {} of the {} GPUs of a node, so the script for {} "
                    "requests {} per node",
                    listed, shape.gpus_per_node, site_id(), listed),
        "add --gpus-per-node N to hpcml gen to set another number");
    shape.gpus_per_node = listed;
  }

  /// Whether the request chooses a partition of nodes without GPUs.
  bool chooses_cpu_nodes() const {
    const auto* partition = x_porting.chosen.partition.empty() ? nullptr : target_partition(x_porting);
    return partition && (partition->cpu_only || (!partition->node_types.empty() && !target_node(x_porting)));
  }

  bool find_gpus(const FoundLaunch& found, LaunchLayout& shape) {
    refuse_other_gpus(x_porting, x_programs, found, shape.gpus_per_node);
    use_listed_gpus(found, shape);
    if (shape.gpus_per_node > 0 || chooses_cpu_nodes()) return true;
    const auto speaks = [&](std::string_view word) {
      return x_porting.text.find(word) != std::string_view::npos;
    };
    const auto names = util::to_lower(x_request.text("partition") + " " + x_request.text("constraint"));
    if (!speaks("CUDA") && !speaks("NCCL") && !speaks("--nv") && !speaks("nvidia") && !speaks("rocm") &&
        names.find("gpu") == std::string::npos)
      return true;
    if (has_gpu_request()) return true;
    if (const auto listed = listed_gpus(found); listed > 0)
      shape.gpus_per_node = listed;
    else if (shape.ranks_per_node > 1)
      shape.gpus_per_node = shape.ranks_per_node;
    if (shape.gpus_per_node > 0) {
      x_porting.note(
          {}, "port/gpus",
          listed_gpus(found) > 0
              ? fmt::format(
                    "the old script uses GPUs without a request: the script for {} requests {} per node, "
                    "as many as it lists",
                    site_id(), util::counted(shape.gpus_per_node, "GPU"))
              : fmt::format(
                    "the old script uses GPUs without a request: the script for {} requests {} per node, "
                    "one for each rank",
                    site_id(), util::counted(shape.gpus_per_node, "GPU")),
          "add --gpus-per-node N to hpcml gen to set another number");
      return true;
    }
    x_porting.note(
        {}, "port/gpus",
        fmt::format("the old script uses GPUs without a request: the script for {} requests the default "
                    "number of the site",
                    site_id()),
        "add --gpus-per-node N to hpcml gen to set another number");
    set_nodes(shape.nodes);
    if (shape.one_process) x_job.tasks_per_node = number(1, "the one process");
    return false;
  }

  /// An agent of the batch script's own node: it counts on others, starts them by itself, or is alone.
  void port_without_step(const FoundLaunch& found, LaunchLayout& shape) {
    if (shape.counts_nodes)
      return x_porting.warn(place_of_launch(found), "port/nodes",
                            fmt::format("'{}' had no srun, so it waited on the first node for the other {}: "
                                        "the new script starts it on each node",
                                        shown_command(found), util::counted(shape.nodes - 1, "node")),
                            "add --nodes 1 to hpcml gen if one node is enough");
    if (reaches_nodes(*found.launch->agent())) return;
    x_porting.warn(place_of_launch(found), "port/nodes",
                   fmt::format("'{}' has no srun and runs only on the first of {}, so the script for {} "
                               "requests one node",
                               shown_command(found), util::counted(shape.nodes, "node"), site_id()),
                   "add --nodes N to hpcml gen to run it on more nodes");
    shape.nodes = 1;
  }

  void set_nodes(unsigned nodes) {
    if (nodes > 1 || x_request.nodes) x_job.nodes = number(nodes, "the number of nodes");
  }

  /// Whether the script's site gives GPUs to those jobs alone that ask for them.
  bool has_gpu_request() const {
    return x_porting.source && x_porting.source->gpu_request.style != model::GpuOptionStyle::none;
  }

  /// Whether the script's partition is one of nodes with GPUs, as far as its name or the profile shows.
  bool names_gpu_partition() const {
    const auto name = x_request.text("partition");
    if (util::to_lower(name).find("gpu") != std::string::npos) return true;
    const auto* partition = x_porting.source ? x_porting.source->find_partition(name) : nullptr;
    if (!partition || partition->cpu_only || partition->node_types.empty()) return false;
    const auto& nodes = x_porting.source->node_types;
    return std::all_of(nodes.begin(), nodes.end(), [&](const model::NodeType& node) {
      return node.gpu || !util::contains(partition->node_types, node.id);
    });
  }

  /// Nothing shows that the old job had GPUs; on the site that it was written for it may have had them
  /// anyway.
  void warn_without_gpus(const FoundLaunch& found) {
    if ((has_gpu_request() && !names_gpu_partition()) || !target_node(x_porting) || x_porting.chosen.nodes)
      return;
    x_porting.warn(
        place_of_launch(found), "port/gpus",
        fmt::format("the script requests no GPUs, so its program sees no GPU in the job on {}", site_id()),
        "add --gpus-per-node N to hpcml gen to request GPUs");
  }

  /// A program that no srun starts stays in the batch script, on the first node. The steps that it starts
  /// itself get the tasks of the header.
  LaunchLayout shape_of_batch(const FoundLaunch& found, LaunchLayout shape) {
    const auto tasks = std::max(1U, x_sizes.tasks_per_node);
    if (shape.nodes > 1)
      x_porting.warn(place_of_launch(found), "port/nodes",
                     fmt::format("no srun starts '{}': it stays one process on the first of {}",
                                 shown_command(found), util::counted(shape.nodes, "node")),
                     "add srun before the program in the old script to start it on all nodes");
    else if (found.is_unread)
      x_porting.warn(
          place_of_launch(found), "port/nodes",
          fmt::format("hpcml does not read what '{}' starts: the batch script for {} runs it once, "
                      "as before",
                      shown_command(found), site_id()),
          "check that its ranks and steps fit the nodes and GPUs of the new job");
    else
      x_porting.warn(place_of_launch(found), "port/nodes",
                     fmt::format("'{}' starts its own steps, so the batch script for {} runs it without srun",
                                 shown_command(found), site_id()),
                     "check that its steps fit the nodes and GPUs of the new job");
    shape.ranks_per_node = tasks;
    shape.one_process = false;
    if (shape.gpus_per_node > 0 && tasks == 1) shape.one_process = true;
    return shape;
  }

  void record(const LaunchLayout& shape, unsigned gpus) {
    auto& intent = x_porting.result.intent;
    intent.is_known = true;
    intent.nodes = shape.nodes;
    intent.ranks_per_node = shape.ranks_per_node;
    intent.gpus_per_node = gpus;
    intent.cpus_per_rank =
        x_sizes.cpus_per_task * std::max(1U, x_sizes.tasks_per_node) / std::max(1U, shape.ranks_per_node);
  }

  void port_cpu_job(const LaunchLayout& shape) {
    record(shape, 0);
    set_nodes(shape.nodes);
    x_job.gpus_per_node = number(0, "no request for GPUs");
    x_job.tasks_per_node = number(shape.ranks_per_node, "the number of tasks");
    if (x_request.has("cpus-per-task"))
      x_job.cpus_per_task =
          number(static_cast<unsigned>(x_request.count("cpus-per-task", 1)), "--cpus-per-task");
    const auto facts = site_rules::place(x_porting.to, site_rules::demand_of(x_job)).facts;
    if (x_request.has("mem") && site_rules::sbatch_option_rule(x_porting.to, "mem", facts).takes())
      if (const auto mem = model::MemSize::parse(x_request.text("mem")); mem && x_request.text("mem") != "0")
        x_job.mem = model::Sourced<model::MemSize>{*mem, origin("--mem")};
  }

  bool check_ranks(const FoundLaunch& found, const LaunchLayout& shape) {
    if (!shape.known_ranks && found.launch->command->context.loop) {
      x_porting.error(
          place_of_launch(found), "port/size",
          fmt::format("the number of processes of '{}' is known only at run time, and may change in "
                      "its loop",
                      shown_command(found)),
          "use a separate job for each number of processes");
      return false;
    }
    if (!shape.known_ranks)
      x_porting.warn(
          place_of_launch(found), "port/size",
          fmt::format("the number of processes of '{}' is known only at run time: assuming one for each of "
                      "the {} of a node",
                      shown_command(found), util::counted(shape.gpus_per_node, "GPU")),
          "add --tasks-per-node and --gpus-per-node to hpcml gen to set other numbers");
    if (shape.repeated_agents > 0 && !port_repeated(found, shape)) return false;
    const auto tasks = found.launch->step() && found.launch->agent() && shape.one_node
                           ? shape.nodes * shape.agents_per_node
                           : 1;
    if (tasks <= 1) return true;
    x_porting.error(
        place_of_launch(found), "port/worlds",
        fmt::format("each of {} starts a separate training on one node, which cannot be imported",
                    util::counted(tasks, "task")),
        fmt::format("set --nnodes=$SLURM_NNODES for {} to train once on all nodes, or use a job array",
                    found.launch->agent()->program));
    return false;
  }

  /// Each task of a node started an agent for all of the node's GPUs: one of them is meant.
  bool port_repeated(const FoundLaunch& found, const LaunchLayout& shape) {
    const auto& agent = found.launch->agent()->program;
    const auto tasks = util::counted(shape.repeated_agents, "task");
    const auto ranks = util::counted(shape.ranks_per_node, "rank");
    if (shape.ranks_per_node < shape.gpus_per_node) {
      x_porting.error(
          place_of_launch(found), "port/size",
          fmt::format("{} of each node each start {} with {}, but {} needs one task per node", tasks, agent,
                      ranks, agent),
          fmt::format("set --ntasks-per-node=1 in the script, and the ranks per node in the options of {}",
                      agent));
      return false;
    }
    x_porting.warn(
        place_of_launch(found), "port/size",
        fmt::format(
            "{} of each node each start {} with {} ({} ranks on {}): the script for {} starts {} per node",
            tasks, agent, ranks, shape.repeated_agents * shape.ranks_per_node,
            util::counted(shape.gpus_per_node, "GPU"), site_id(), ranks),
        "add --tasks-per-node N to hpcml gen to set another number");
    return true;
  }

  /// The same number of ranks with the same GPUs, on nodes as the new site has them.
  void spread(const FoundLaunch& found, const LaunchLayout& shape) {
    const auto* node = target_node(x_porting);
    const auto* partition = target_partition(x_porting);
    const unsigned most = node && node->gpu ? node->gpu->per_node : 0;
    const bool whole = partition && partition->exclusive;
    const unsigned ranks = shape.ranks_per_node;
    const unsigned gpus = shape.gpus_per_node;
    const unsigned each = std::max(1U, gpus / ranks);
    unsigned on_node = ranks;
    unsigned nodes = shape.nodes;
    const auto counting = counting_argument(found);
    if (most > 0 && each > most) return report_large_process(found, each, most);
    const bool fits = most == 0 || gpus <= most;
    // What an unread script starts may be for this number of nodes.
    const bool may_change = counting.empty() && !found.is_unread;
    const bool fill = fits && whole && most > gpus && ranks > 1 && nodes > 1 && may_change;
    if (ranks <= gpus && (!fits || fill)) {
      const unsigned world = nodes * ranks;
      on_node = most / each;
      while (on_node > 1 && world % on_node != 0) --on_node;
      if (fill && on_node <= ranks) on_node = ranks;
      nodes = world / on_node;
    }
    const unsigned new_gpus = on_node == ranks ? gpus : on_node * each;
    if (x_porting.chosen.node_count > 0)
      note_chosen(x_porting.chosen.node_count * on_node, shape.nodes * ranks);
    else if (nodes != shape.nodes)
      note_spread(found, shape, nodes, new_gpus, counting);
    if (whole) report_idle(most, new_gpus);
    warn_of_batch_programs(gpus, new_gpus);
    set_nodes(nodes);
    set_layout({nodes, on_node, new_gpus});
    x_job.gpus_per_node = number(new_gpus, "the number of GPUs");
    if (each > 1 && gpus % ranks == 0)
      x_job.gpus_per_task = number(each, "the number of tasks");
    else if (on_node != new_gpus)
      x_job.tasks_per_node = number(on_node, "the number of tasks");
  }

  void warn_of_batch_programs(unsigned before, unsigned now) {
    if (now >= before) return;
    for (const auto& [begin, length] : x_porting.batch_programs)
      x_porting.warn({begin, length}, "port/gpus",
                     fmt::format("'{}' runs in the batch script, on a node with {} instead of {} of them",
                                 short_line(x_porting.text.substr(begin, length)), util::counted(now, "GPU"),
                                 before),
                     "check that the program works with fewer GPUs");
  }

  /// Jobs get whole nodes, which may have more GPUs than this one uses.
  void report_idle(unsigned most, unsigned gpus) {
    if (most <= gpus || x_porting.chosen.nodes) return;
    x_porting.batch_gpus = gpus;
    x_porting.warn(
        {}, "port/idle-gpus",
        fmt::format("{} allocates whole nodes with {} each and charges for all, but the job leaves {} of "
                    "each node idle",
                    site_id(), util::counted(most, "GPU"), util::counted(most - gpus, "GPU")),
        fmt::format("add --gpus-per-node {} to hpcml gen to use all of them, with more ranks", most));
  }

  /// A process, or a shell that starts some itself, needs more GPUs than a node has.
  void report_large_process(const FoundLaunch& found, unsigned gpus, unsigned most) {
    const auto count = util::counted(gpus, "GPU");
    const bool starts_others = found.is_unread || check::is_shell(*found.launch);
    x_porting.error(
        place_of_launch(found), "port/nodes",
        starts_others ? fmt::format("'{}' uses {} of one node by processes that hpcml does not "
                                    "know, but a node of {} has {}",
                                    shown_command(found), count, site_id(), most)
                      : fmt::format("each process uses {}, but a node of {} has {}", count, site_id(), most),
        "use a site with enough GPUs per node, or request fewer GPUs per process");
  }

  /// Notes the new layout for the arithmetic of the script, unless the request chooses its own.
  void set_layout(const NewLayout& layout) {
    if (!x_porting.chosen.nodes) x_porting.new_layout = layout;
  }

  /// A number of nodes that was chosen may make another world.
  void note_chosen(unsigned now, unsigned before) {
    if (now == before) return;
    x_porting.note({}, "port/nodes",
                   fmt::format("--nodes {} gives {} on {}, but the old job had {}",
                               x_porting.chosen.node_count, util::counted(now, "rank"), site_id(), before),
                   "set --nodes and --gpus-per-node of hpcml gen to get the same number of ranks");
  }

  void note_spread(const FoundLaunch& found, const LaunchLayout& shape, unsigned nodes, unsigned gpus,
                   const std::string& counting) {
    const auto before = util::counted(shape.nodes, "node"), each = util::counted(shape.gpus_per_node, "GPU");
    const auto now = util::counted(nodes, "node"), now_each = util::counted(gpus, "GPU");
    x_porting.note(
        {}, "port/nodes",
        nodes < shape.nodes
            ? fmt::format("the job gets {} with {} each instead of {} with {} each, because {} allocates "
                          "whole nodes",
                          now, now_each, before, each, site_id())
            : fmt::format("the job gets {} with {} each instead of {} with {} each, because nodes of {} "
                          "have fewer GPUs",
                          now, now_each, before, each, site_id()),
        "add --nodes and --gpus-per-node to hpcml gen to set other numbers");
    if (!counting.empty())
      x_porting.error(
          place_of_launch(found), "port/arguments",
          fmt::format("the program's argument '{}' does not fit the new job, which has {} with {} each",
                      counting, now, now_each),
          "use the new number in the script, or a variable such as $SLURM_NNODES");
  }

  /// Ranks keep their view of the GPUs: all of the node, or their own only.
  void show_gpus(const FoundLaunch& found, const LaunchLayout& shape) {
    if (found.in_batch || (shape.ranks_per_node <= 1 && !found.launch->agent())) return;
    const bool own = shape.own_gpus || (!found.launch->agent() && chooses_own_gpu(x_porting.text));
    const auto seen = own ? model::GpuVisibilityMode::own : model::GpuVisibilityMode::all;
    if (x_porting.chosen.gpu_visibility) return;
    const bool by_task = x_porting.to.gpu_request.style == model::GpuOptionStyle::gpus_per_task;
    if (by_task && seen == model::GpuVisibilityMode::all) {
      if (found.launch->agent())
        x_job.launcher =
            model::Sourced<model::Launcher>{*model::Launcher::parse("torchrun"), origin("the launcher")};
      else
        x_porting.error(place_of_launch(found), "port/gpu-visibility",
                        fmt::format("ranks of '{}' see all GPUs of their node in the old job, but on {} each "
                                    "rank sees only its own, as device 0",
                                    shown_command(found), site_id()),
                        "add --gpu-visibility own to hpcml gen if the program can use device 0 on each rank");
      return;
    }
    x_job.gpu_visibility =
        model::Sourced<model::GpuVisibilityMode>{seen, origin("the ranks' view of the GPUs")};
  }

  const std::string& site_id() const { return x_porting.to.id; }

  ImportState& x_porting;
  const slurm::JobOptions& x_request;
  const SizeEvaluator& x_sizes;
  std::vector<FoundLaunch>& x_programs;
  model::JobSpec& x_job;
};

} // namespace

void port_size(ImportState& porting, const slurm::JobOptions& request, const SizeEvaluator& sizes,
               std::vector<FoundLaunch>& programs) {
  SizePorter(porting, request, sizes, programs).port();
}

} // namespace hpcml::import_script
