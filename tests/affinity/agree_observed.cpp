// SPDX-License-Identifier: MIT
// Judges for placements that were seen or published.
#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "agree_checks.hpp"
#include "core/topo/mask_text.hpp"
#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

using model::IdSet;

/// The reason that a document gives, by its words: what is flagged must be that.
void compare_why(const Case& item, const std::string& who, const std::string& why, const std::string& found) {
  static const std::vector<std::pair<const char*, const char*>> words = {
      {"reserved", "reserved"}, {"split", "hardware threads"}, {"L3", "L3"}, {"NUMA", "NUMA"}};
  for (const auto& [word, finding] : words)
    if (why.find(word) != std::string::npos && found.find(finding) == std::string::npos)
      item.differ(who + ": flagged, but not as \"" + why + "\": " + found);
}

/// Verdicts of the checker against `ok` and `shared_with`, task by task of one node.
void compare_node(const Case& item, const std::vector<topo::PlacedRank>& tasks,
                  const std::vector<const Json*>& entries) {
  const auto report = topo::check_placement(item.node, tasks);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const unsigned task = tasks[i].rank;
    const Json& entry = *entries[i];
    const std::string who = "task " + std::to_string(task);
    std::string found;
    std::vector<unsigned> shared;
    for (const auto& finding : report.findings) {
      if (finding.rank != task) continue;
      if (finding.wrong) found += (found.empty() ? "" : "; ") + finding.text;
      if (finding.kind == topo::PlacementFault::overlap) shared = finding.others;
    }
    if (entry.contains("ok") && entry.at("ok").is_boolean() &&
        entry.at("ok").get<bool>() == report.wrong(task))
      item.differ(who + (found.empty() ? ": nothing is flagged" : ": flagged, " + found));
    if (entry.contains("shared_with") && numbers_of(entry.at("shared_with")) != shared)
      item.differ(who + ": shared with " + shown(shared));
    compare_why(item, who, text_of(entry, {"why"}), found);
    compare_pci(item, who, entry, item.node.gpus, tasks[i].gpus);
  }
}

void compare_results(const Case& item, const std::vector<topo::PlacedRank>& tasks) {
  std::map<std::string, std::pair<std::vector<topo::PlacedRank>, std::vector<const Json*>>> nodes;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Json& entry = item.expected()[i];
    auto& [seen, entries] = nodes[entry.contains("node") ? entry.at("node").dump() : ""];
    seen.push_back(tasks[i]);
    entries.push_back(&entry);
  }
  for (const auto& [name, node] : nodes) compare_node(item, node.first, node.second);
}

/// Masks that the case writes must mean the CPUs that it lists.
void compare_texts(const Case& item) {
  for (const Json& entry : item.expected()) {
    const std::string mask = text_of(entry, {"mask"});
    const auto read = IdSet::parse_mask(mask);
    if (mask.empty() || !entry.contains("cpus")) continue;
    const IdSet cpus = cpus_of(entry, {"cpus"});
    if (!read || !(*read == cpus))
      item.differ("task " + std::to_string(number_of(entry, {"task"})) + ": mask " + mask + " is read as " +
                  shown(read.value_or({})));
  }
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool any(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// An option of the case's command, "--name=value", "--name value" or by its letter; else of the request
/// itself.
std::string option_of(const Case& item, const std::string& name, const char* letter, const char* key) {
  const auto words = words_of(text_of(item.request(), {"cmd"}));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--" + name + "=")) return words[i].substr(name.size() + 3);
    if (i + 1 < words.size() && (words[i] == "--" + name || words[i] == letter)) return words[i + 1];
  }
  return text_of(item.request(), {key});
}

std::string gpu_bind_of(const Case& item) {
  std::string bind = option_of(item, "gpu-bind", "", "gpu_bind");
  for (const char* verbose : {"v,", "verbose,"})
    if (bind.starts_with(verbose)) bind.erase(0, std::string(verbose).size());
  return bind;
}

/// The order in which Slurm counts GPUs: as gres.conf lists them, by CPU, unless tasks share the devices.
std::vector<unsigned> gres_order(const topo::Node& node, bool sharing, unsigned count) {
  std::vector<topo::Gpu> gpus = node.gpus;
  const auto cpu = [&](const topo::Gpu& gpu) {
    for (const auto& l3 : node.cpus.l3)
      if (gpu.place.l3 && *gpu.place.l3 == l3.id) return l3.cpus.first();
    for (const auto& numa : node.cpus.numa)
      if (gpu.place.numa && *gpu.place.numa == numa.id) return numa.cpus.first();
    return 0u;
  };
  std::stable_sort(gpus.begin(), gpus.end(), [&](const auto& a, const auto& b) { return cpu(a) < cpu(b); });
  std::vector<unsigned> order;
  for (const auto& gpu : gpus) order.push_back(gpu.place.index);
  if (count > 0 && count < order.size()) order.resize(count);
  if (sharing) std::sort(order.begin(), order.end());
  return order;
}

/// GPUs that the task's own number or CPUs determine.
void compare_gpus(const Case& item, const std::vector<topo::PlacedRank>& tasks) {
  const std::string rule = text_of(item.request(), {"gpu"});
  const bool local = rule == "localid";
  if (!rule.empty() && !local) item.differ("hpcml's runner does not know the rule for GPUs: " + rule);
  const bool closest =
      text_of(item.request(), {"gpu_bind"}) == "closest"; // in a command beside the distribution
  for (const topo::PlacedRank& task : tasks) {
    std::vector<unsigned> gpus;
    if (local) gpus = {task.rank};
    if (closest)
      for (const topo::Gpu& gpu : item.node.gpus)
        for (const auto& numa : item.node.cpus.numa)
          if (gpu.place.numa && *gpu.place.numa == numa.id && numa.cpus.intersects(task.cpus))
            gpus.push_back(gpu.place.index);
    if ((local || closest) && gpus != task.gpus)
      item.differ("task " + std::to_string(task.rank) + ": GPU " + shown(task.gpus) + " seen, " +
                  shown(gpus) + " by the rule of the request");
  }
}

/// GPUs by --gpu-bind=map: or mask_gpu:.
void compare_gpu_bind(const Case& item, const std::vector<topo::PlacedRank>& tasks) {
  const std::string bind = gpu_bind_of(item);
  const bool sharing =
      option_of(item, "gres-flags", "", "gres_flags").find("allow-task-sharing") != std::string::npos;
  const auto order = gres_order(item.node, sharing, number_of(item.request(), {"gpus"}));
  const std::size_t colon = bind.find(':');
  const bool map = bind.starts_with("map");
  if (bind.empty() || bind == "none" || bind == "closest") return;
  if (colon == std::string::npos || !(map || bind.starts_with("mask")))
    return item.leave_open("the GPUs: --gpu-bind=" + bind);
  const auto list = topo::parse_cpu_bind((map ? "map_cpu" : "mask_cpu") + bind.substr(colon),
                                         static_cast<unsigned>(tasks.size()));
  if (!list) return item.differ(list.error().what);
  for (const topo::PlacedRank& task : tasks) {
    std::vector<unsigned> gpus, named;
    if (task.rank >= list->size()) continue;
    for (unsigned index : (*list)[task.rank].ids())
      if (index < order.size()) {
        gpus.push_back(order[index]);
        named.push_back(sharing ? index : static_cast<unsigned>(named.size()));
      }
    // A step's own devices keep their numbers; those of a task's cgroup count from 0.
    const std::string visible = text_of(item.expected().at(task.rank), {"visible_devices"});
    if (!visible.empty() && visible != shown(named))
      item.differ("task " + std::to_string(task.rank) + ": visible devices " + visible + " seen, " +
                  shown(named) + " by Slurm's rules");
    std::sort(gpus.begin(), gpus.end());
    if (gpus != task.gpus)
      item.differ("task " + std::to_string(task.rank) + ": GPU " + shown(task.gpus) + " seen, " +
                  shown(gpus) + " by Slurm's rules");
  }
}

/// A task's number on its node: tasks before it on the same node.
std::map<unsigned, unsigned> local_ranks(const Case& item, unsigned per_node) {
  std::map<unsigned, unsigned> locals;
  std::map<std::string, unsigned> seen;
  for (const Json& entry : item.expected()) {
    const unsigned task = number_of(entry, {"task"});
    locals[task] = entry.contains("node") ? seen[entry.at("node").dump()]++ : task % per_node;
  }
  return locals;
}

/// Masks of a binding: CPUs as they stand there, or those of NUMA nodes.
void compare_binding(const Case& item, const std::vector<topo::PlacedRank>& tasks, const std::string& bind) {
  std::vector<IdSet> masks;
  const auto count = static_cast<unsigned>(tasks.size());
  if (const std::size_t ldom = bind.find("_ldom"); ldom != std::string::npos) {
    // The same lists, of NUMA nodes instead of CPUs.
    const auto nodes = topo::parse_cpu_bind(bind.substr(0, ldom) + "_cpu" + bind.substr(ldom + 5), count);
    if (!nodes) return item.differ(nodes.error().what);
    for (const IdSet& ids : *nodes) {
      IdSet cpus;
      for (const auto& numa : item.node.cpus.numa)
        if (ids.contains(numa.id)) cpus = cpus | numa.cpus;
      masks.push_back(cpus);
    }
  } else if (bind.find("mask_cpu") != std::string::npos || bind.find("map_cpu") != std::string::npos) {
    const auto read = topo::parse_cpu_bind(bind, count);
    if (!read) return item.differ(read.error().what);
    masks = *read;
  } else {
    return item.leave_open("the CPUs: --cpu-bind=" + bind + " names none");
  }
  for (const topo::PlacedRank& task : tasks)
    if (task.rank < masks.size() && !(masks[task.rank] == task.cpus))
      item.differ("task " + std::to_string(task.rank) + ": CPUs " + shown(masks[task.rank]) +
                  " read from the binding");
}

/// Two for an allocation with all hardware threads. Where the command does not say, only what was seen tells.
unsigned threads_per_core(const Case& item, const std::vector<topo::PlacedRank>& tasks) {
  const auto words = words_of(text_of(item.request(), {"cmd"}));
  const auto requested = util::parse_unsigned(option_of(item, "threads-per-core", "", "threads_per_core"));
  if (requested) return static_cast<unsigned>(*requested);
  if (number_of(item.request(), {"threads_per_core"}) > 0)
    return number_of(item.request(), {"threads_per_core"});
  if (any(words, "--hint=nomultithread")) return 1;
  if (any(words, "--hint=multithread")) return 2;
  std::size_t most = 1;
  for (const topo::PlacedRank& task : tasks)
    for (const IdSet& core : item.node.cpus.core_threads) most = std::max(most, (core & task.cpus).size());
  if (most > 1)
    item.leave_open("the hardware threads of each core, which the allocation has chosen: " +
                    std::to_string(most) + " were seen");
  return static_cast<unsigned>(most);
}

/// CPUs that a binding wider than cores adds: the whole sockets or NUMA nodes of the task's cores, or all.
IdSet widen(const Case& item, const std::string& unit, const topo::ThirdPartyAffinityRequest& wanted,
            const IdSet& cpus) {
  const auto& shape = item.node.cpus;
  const IdSet all = (wanted.allowed.empty() ? shape.all() : wanted.allowed) - shape.reserved;
  if (unit == "none" || unit == "no") return all;
  const auto* domains = unit == "sockets" ? (wanted.l3_as_socket ? &shape.l3 : &shape.packages)
                        : unit == "ldoms" ? &shape.numa
                                          : nullptr;
  if (!domains) return cpus;
  IdSet wide;
  for (const auto& domain : *domains)
    if (domain.cpus.intersects(cpus)) wide = wide | (domain.cpus & all);
  return wide;
}

/// What Slurm's own distribution gives, where -c stands in the request.
void compare_distribution(const Case& item, const std::vector<topo::PlacedRank>& tasks) {
  const std::string bind = option_of(item, "cpu-bind", "", "");
  if (bind.find(':') != std::string::npos) return compare_binding(item, tasks, bind);
  topo::ThirdPartyAffinityRequest wanted = compat_request(item.item, "slurm-closest", item.node);
  const unsigned nodes = std::max(1u, number_of(item.request(), {"nodes"}, 1));
  wanted.ranks = (wanted.ranks + nodes - 1) / nodes;
  if (wanted.cpus_per_rank == 0)
    return item.leave_open("the CPUs per task, which the site chooses without -c");
  const std::string distribution = option_of(item, "distribution", "-m", "distribution");
  wanted.block_cores = distribution.find(":block") != std::string::npos;
  wanted.threads_per_core = threads_per_core(item, tasks);
  const auto plan = topo::plan_compat(item.node, wanted);
  if (!plan) return item.differ("no plan: " + plan.error().what);
  const bool closest = option_of(item, "gpu-bind", "", "") == "closest";
  const std::string unit = bind.substr(bind.rfind(',') + 1);
  const bool several = number_of(item.request(), {"gpus_per_task"}) > 1;
  if (closest && several) item.leave_open("which of the near GPUs a task with several gets");
  const auto locals = local_ranks(item, wanted.ranks);
  for (const topo::PlacedRank& task : tasks) {
    const unsigned local = locals.at(task.rank);
    const std::string who = "task " + std::to_string(task.rank);
    if (local >= plan->plan.ranks.size()) {
      item.differ(who + ": more tasks on its node than the request has");
      continue;
    }
    const auto& rank = plan->plan.ranks[local];
    if (const IdSet cpus = widen(item, unit, wanted, rank.cpus); !(cpus == task.cpus))
      item.differ(who + ": CPUs " + shown(task.cpus) + " seen, " + shown(cpus) + " by Slurm's rules");
    if (closest && !several && rank.gpus != task.gpus)
      item.differ(who + ": GPU " + shown(task.gpus) + " seen, " + shown(rank.gpus) + " by Slurm's rules");
  }
}

} // namespace

void check_observed(const Case& item) {
  if (!item.expected().is_array()) return item.differ("the expectation is no list of tasks");
  const auto tasks = placed_tasks(item.expected());
  compare_texts(item);
  compare_results(item, tasks);
  const std::string bind = text_of(item.request(), {"cpu_bind"});
  if (!bind.empty())
    compare_binding(item, tasks, bind);
  else if (item.outcome.use == "slurm-observed")
    compare_distribution(item, tasks);
  compare_gpu_bind(item, tasks);
  compare_gpus(item, tasks);
}

} // namespace hpcml::agree
