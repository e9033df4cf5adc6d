// SPDX-License-Identifier: MIT
// Table, JSON and report.
#include "core/topo/render_plan.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/topo/mask_text.hpp"
#include "core/util/text.hpp"
#include "core/util/text_table.hpp"

namespace hpcml::topo {
namespace {

using OrderedJson = nlohmann::ordered_json;
using model::IdSet;

std::string gpus_text(const std::vector<unsigned>& gpus) {
  std::vector<std::string> texts;
  texts.reserve(gpus.size());
  for (unsigned gpu : gpus) texts.push_back(std::to_string(gpu));
  return texts.empty() ? "-" : util::join(texts, ",");
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

OrderedJson rank_json(const Node& node, const model::PlannedRankBinding& rank) {
  OrderedJson entry;
  entry["rank"] = rank.local_rank;
  entry["gpus"] = rank.gpus;
  OrderedJson pci = OrderedJson::array();
  for (unsigned index : rank.gpus)
    for (const Gpu& gpu : node.gpus)
      if (gpu.place.index == index && !gpu.place.pci.empty()) pci.push_back(gpu.place.pci);
  if (!pci.empty()) entry["pci"] = pci;
  entry["cpus"] = rank.cpus.to_list();
  entry["mask"] = rank.cpus.to_mask();
  entry["cores"] = rank.cores;
  entry["numa"] = rank.numa.ids();
  entry["memory"] = {{"policy", "preferred"}, {"nodes", rank.memory.ids()}};
  if (!rank.nic.empty()) entry["nic"] = rank.nic;
  entry["omp_num_threads"] = std::max(1u, rank.cores);
  entry["omp_places"] = omp_places(node, rank.cpus);
  entry["why"] = rank.why;
  return entry;
}

} // namespace

std::string omp_places(const Node& node, const IdSet& cpus) {
  std::vector<std::string> places;
  std::vector<IdSet> cores = node.cpus.core_threads;
  std::sort(cores.begin(), cores.end(), [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
  for (const IdSet& core : cores) {
    std::vector<std::string> threads;
    for (unsigned cpu : (core & cpus).ids()) threads.push_back(std::to_string(cpu));
    if (!threads.empty()) places.push_back("{" + util::join(threads, ",") + "}");
  }
  return util::join(places, ",");
}

std::string render_node_line(const Node& node) {
  std::string line =
      (node.name.empty() ? "node" : node.name) + ": " + util::counted(node.cpus.core_threads.size(), "core");
  if (node.cpus.threads_per_core > 1) line += fmt::format(" with {} threads", node.cpus.threads_per_core);
  line += ", " + util::counted(node.cpus.numa.size(), "NUMA node") + ", " +
          util::counted(node.gpus.size(), "GPU") + ", " + util::counted(node.nics.size(), "NIC");
  if (!node.cpus.reserved.empty())
    line += fmt::format("; CPUs {} are reserved", node.cpus.reserved.to_list());
  if (!node.allowed.empty() && !(node.allowed == node.cpus.all()))
    line += fmt::format("; CPUs {} may be used", node.allowed.to_list());
  return line + "\n";
}

std::string render_table(const Node& node, const AffinityPlan& plan) {
  std::vector<std::vector<std::string>> rows = {{"rank", "GPU", "CPUs", "cores", "NUMA", "memory", "NIC"}};
  for (const auto& rank : plan.ranks)
    rows.push_back({std::to_string(rank.local_rank), gpus_text(rank.gpus), or_dash(rank.cpus.to_list()),
                    std::to_string(rank.cores), or_dash(rank.numa.to_list()), or_dash(rank.memory.to_list()),
                    or_dash(rank.nic)});
  std::string text = render_node_line(node) + util::render_columns(rows);
  for (const auto& rank : plan.ranks)
    text += "rank " + std::to_string(rank.local_rank) + ": " + rank.why + "\n";
  return text;
}

std::string render_json(const Node& node, const AffinityPlan& plan) {
  OrderedJson root;
  root["node"] = {{"name", node.name},
                  {"cores", node.cpus.core_threads.size()},
                  {"threads_per_core", node.cpus.threads_per_core},
                  {"gpus", node.gpus.size()},
                  {"reserved", node.cpus.reserved.to_list()},
                  {"allowed", node.allowed.to_list()}};
  OrderedJson ranks = OrderedJson::array();
  std::vector<IdSet> masks;
  for (const auto& rank : plan.ranks) {
    ranks.push_back(rank_json(node, rank));
    masks.push_back(rank.cpus);
  }
  root["ranks"] = ranks;
  root["cpu_bind"] = render_cpu_bind(masks);
  root["warnings"] = plan.warnings;
  root["notes"] = node.notes;
  return root.dump(2) + "\n";
}

std::string render_missing(const PlacementReport& report) {
  if (report.missing.empty()) return {};
  return (report.missing.size() == 1 ? "rank " : "ranks ") + IdSet::of(report.missing).to_list() +
         (report.missing.size() == 1 ? " is" : " are") + " not running\n";
}

std::string render_report(const PlacementReport& report, const std::vector<PlacedRank>& ranks) {
  std::string text;
  for (const PlacedRank& rank : ranks) {
    text += fmt::format("rank {}: CPUs {}, GPU {}{}{}", rank.rank, or_dash(rank.cpus.to_list()),
                        gpus_text(rank.gpus), rank.nic.empty() ? "" : ", NIC " + rank.nic,
                        rank.memory && rank.memory->mode != MemoryPolicyMode::local
                            ? ", " + render_memory(*rank.memory)
                            : "");
    std::string findings;
    for (const auto& finding : report.findings)
      if (finding.rank == rank.rank)
        findings += std::string("\n  ") + (finding.wrong ? "wrong: " : "note: ") + finding.text;
    text += findings.empty() ? ": ok\n" : findings + "\n";
  }
  text += render_missing(report) + fmt::format("score {:.0f}", report.score * 100) +
          " of 100: CPUs that are allowed, local and the rank's own\n";
  return text;
}

std::string render_report_json(const Node& node, const PlacementReport& report,
                               const std::vector<PlacedRank>& ranks, const AffinityPlan& plan) {
  OrderedJson root;
  root["score"] = report.score;
  root["ranks"] = OrderedJson::array();
  for (const PlacedRank& rank : ranks) {
    OrderedJson entry = {{"rank", rank.rank},
                         {"ok", !report.wrong(rank.rank)},
                         {"gpus", rank.gpus},
                         {"cpus", rank.cpus.to_list()},
                         {"mask", rank.cpus.to_mask()}};
    if (!rank.nic.empty()) entry["nic"] = rank.nic;
    static const char* const k_modes[] = {"local", "preferred", "bound", "interleaved"};
    if (rank.memory)
      entry["memory"] = {{"policy", k_modes[static_cast<int>(rank.memory->mode)]},
                         {"nodes", rank.memory->nodes.ids()}};
    entry["findings"] = OrderedJson::array();
    for (const auto& finding : report.findings)
      if (finding.rank == rank.rank)
        entry["findings"].push_back({{"kind", name_of(finding.kind)},
                                     {"wrong", finding.wrong},
                                     {"text", finding.text},
                                     {"others", finding.others}});
    for (const auto& planned : plan.ranks)
      if (planned.local_rank == rank.rank && report.wrong(rank.rank))
        entry["planned"] = rank_json(node, planned);
    root["ranks"].push_back(entry);
  }
  root["missing"] = report.missing;
  root["fix"] = render_fix(report, ranks, plan);
  root["notes"] = node.notes;
  return root.dump(2) + "\n";
}

bool is_better(const AffinityPlan& plan, const PlacementReport& report, const PlacedRank& rank) {
  return report.wrong(rank.rank) && rank.rank < plan.ranks.size() && !plan.ranks[rank.rank].cpus.empty() &&
         !(plan.ranks[rank.rank].cpus == rank.cpus);
}

std::string render_fix(const PlacementReport& report, const std::vector<PlacedRank>& ranks,
                       const AffinityPlan& plan) {
  if (std::none_of(ranks.begin(), ranks.end(),
                   [&](const PlacedRank& rank) { return is_better(plan, report, rank); }))
    return {};
  std::vector<IdSet> masks;
  for (const auto& rank : plan.ranks) masks.push_back(rank.cpus);
  return fmt::format("start the ranks with hpcml launch --bind apply, or if the step has the node to itself "
                     "with srun --cpu-bind={}",
                     render_cpu_bind(masks));
}

} // namespace hpcml::topo
