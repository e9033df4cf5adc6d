// SPDX-License-Identifier: MIT
#include "agree_checks.hpp"

#include <algorithm>

#include "core/topo/mask_text.hpp"
#include "core/topo/nearest_nic.hpp"
#include "core/topo/unmet_request.hpp"
#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

using model::IdSet;
using Rank = model::PlannedRankBinding;

void compare_set(const Case& item, const std::string& who, const char* what, const IdSet& expected,
                 const IdSet& got) {
  if (!(expected == got))
    item.differ(who + ": " + what + " " + shown(expected) + " expected, " + shown(got) + " planned");
}

/// NUMA or memory nodes: a number, a list of numbers, or a CPU-list text.
void compare_nodes(const Case& item, const std::string& who, const Json& entry, const char* key,
                   const IdSet& got) {
  if (const auto found = entry.find(key); found != entry.end() && !found->is_null())
    compare_set(item, who, key, IdSet::of(numbers_of(*found)), got);
}

IdSet domains_of(const std::vector<model::CpuDomain>& domains, const IdSet& cpus) {
  IdSet ids;
  for (const auto& domain : domains)
    if (domain.cpus.intersects(cpus)) ids.add(domain.id);
  return ids;
}

void compare_gpus(const Case& item, const std::string& who, const Json& entry, const Rank& rank) {
  if (const auto found = entry.find("gpu"); found != entry.end() && !found->is_null()) {
    std::vector<unsigned> expected = numbers_of(*found), got = rank.gpus;
    std::sort(expected.begin(), expected.end());
    std::sort(got.begin(), got.end());
    if (expected != got)
      item.differ(who + ": GPU " + shown(expected) + " expected, " + shown(got) + " planned");
  }
}

/// One per core, without those that the case keeps for loading data.
unsigned omp_threads(const Case& item, const Rank& rank) {
  const unsigned workers = number_of(item.request(), {"dataloader_workers", "workers"});
  return std::max(1u, rank.cores - std::min(rank.cores, workers));
}

void compare_rank(const Case& item, const Json& entry, const Rank& rank) {
  const std::string who = "task " + std::to_string(rank.local_rank);
  compare_gpus(item, who, entry, rank);
  if (const auto gpus = topo::visible_gpus(item.node, plan_request(item.request()).visible))
    compare_pci(item, who, entry, *gpus, rank.gpus);
  if (entry.contains("cpus")) compare_set(item, who, "CPUs", cpus_of(entry, {"cpus"}), rank.cpus);
  if (const std::string mask = text_of(entry, {"mask"}); !mask.empty()) {
    const auto read = IdSet::parse_mask(mask);
    if (!read)
      item.differ(who + ": mask " + mask + " cannot be read: " + read.error().what);
    else if (!(*read == rank.cpus))
      compare_set(item, who, "mask", *read, rank.cpus);
  }
  compare_nodes(item, who, entry, "numa", rank.numa);
  compare_nodes(item, who, entry, "membind", rank.memory);
  compare_nodes(item, who, entry, "l3", domains_of(item.node.cpus.l3, rank.cpus));
  if (const std::string nic = text_of(entry, {"nic"}); !nic.empty() && nic != rank.nic)
    item.differ(who + ": NIC " + nic + " expected, " + (rank.nic.empty() ? "none" : rank.nic) + " planned");
  if (const unsigned threads = number_of(entry, {"omp_threads"});
      threads > 0 && threads != omp_threads(item, rank))
    item.differ(who + ": " + std::to_string(threads) + " OpenMP threads expected, " +
                std::to_string(omp_threads(item, rank)) + " planned");
}

/// Conditions in place of a list: cores per task, disjoint, inside one package, with given CPUs.
void compare_checks(const Case& item, const std::vector<Rank>& ranks) {
  const Json none = Json::object();
  const Json& checks = item.item.contains("checks") ? item.item.at("checks") : none;
  const auto on = [&](const char* key) { return checks.contains(key) && checks.at(key) == true; };
  const unsigned cores = number_of(checks, {"per_task_cores", "cores_per_task"});
  IdSet taken;
  for (const Rank& rank : ranks) {
    const std::string who = "task " + std::to_string(rank.local_rank);
    if (cores > 0 && rank.cores != cores)
      item.differ(who + ": " + std::to_string(cores) + " cores expected, " + std::to_string(rank.cores) +
                  " planned");
    if (on("same_package") && domains_of(item.node.cpus.packages, rank.cpus).size() != 1)
      item.differ(who + ": one package expected, CPUs " + shown(rank.cpus) + " planned");
    if (on("disjoint") && rank.cpus.intersects(taken))
      item.differ(who + ": shares CPUs " + shown(rank.cpus & taken));
    taken = taken | rank.cpus;
    for (const auto& l3 : item.node.cpus.l3)
      if (on("whole_l3") && l3.cpus.intersects(rank.cpus))
        for (const IdSet& core : item.node.cpus.core_threads)
          if (core.is_subset_of(l3.cpus) && !core.intersects(rank.cpus | item.node.cpus.reserved))
            item.differ(who + ": has a part of L3 " + std::to_string(l3.id));
    if (checks.contains("must_include")) {
      const IdSet wanted = cpus_of(checks.at("must_include"), {std::to_string(rank.local_rank).c_str()});
      if (!wanted.is_subset_of(rank.cpus)) item.differ(who + ": lacks CPUs " + shown(wanted - rank.cpus));
    }
    if (on("smt_not_split"))
      for (const IdSet& core : item.node.cpus.core_threads)
        for (const Rank& neighbour : ranks)
          if (&neighbour != &rank && core.intersects(rank.cpus) && core.intersects(neighbour.cpus))
            item.differ(who + ": shares core " + shown(core) + " with task " +
                        std::to_string(neighbour.local_rank));
  }
  if (!item.expected().is_object() || !item.expected().contains("partition_of")) return;
  for (const Json& part : item.expected().at("partition_of")) {
    IdSet covered;
    const IdSet whole = IdSet::parse_list(part.get<std::string>()).value_or({});
    for (const Rank& rank : ranks)
      if (rank.cpus.intersects(whole)) covered = covered | rank.cpus;
    compare_set(item, "all tasks", "CPUs", whole, covered);
  }
}

/// The options that a document prints, where they name CPUs and GPUs.
void compare_emit(const Case& item, const std::vector<Rank>& ranks) {
  const std::string emit = text_of(item.item, {"emit"});
  if (emit.empty()) return;
  const auto count = static_cast<unsigned>(ranks.size());
  const bool nodes = emit.starts_with("map_ldom");
  // People write " x4" for "*4".
  std::string text = util::replace_all(util::replace_all(emit, " x", "*"), "map_ldom", "map_cpu");
  const auto sets = topo::parse_cpu_bind(text.substr(0, text.find(' ')), count);
  if (!sets) return item.leave_open("how it is written: " + emit);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    compare_set(item, "task " + std::to_string(i), "emitted", (*sets)[i],
                nodes ? ranks[i].numa : ranks[i].cpus);
  const std::string option = "--gpu-bind=map:";
  const std::size_t found = emit.find(option);
  if (found == std::string::npos) return;
  const std::string list = emit.substr(found + option.size());
  const auto gpus = topo::parse_cpu_bind("map_cpu:" + list.substr(0, list.find(' ')), count);
  if (!gpus) return item.differ(gpus.error().what);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (!((*gpus)[i] == IdSet::of(ranks[i].gpus)))
      compare_set(item, "task " + std::to_string(i), "emitted GPU", (*gpus)[i], IdSet::of(ranks[i].gpus));
}

bool expects_error(const Case& item) {
  const Json& expected = item.expected();
  return expected.is_object() && (expected.contains("error") || expected.contains("raises"));
}

} // namespace

void compare_pci(const Case& item, const std::string& who, const Json& entry,
                 const std::vector<topo::Gpu>& gpus, const std::vector<unsigned>& indices) {
  const auto expected = entry.find("pci");
  if (expected == entry.end() || expected->is_null()) return;
  const Json list = expected->is_array() ? *expected : Json::array({*expected});
  bool same = list.size() == indices.size();
  std::vector<std::string> got;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto gpu = std::find_if(gpus.begin(), gpus.end(),
                                  [&](const topo::Gpu& g) { return g.place.index == indices[i]; });
    got.push_back(gpu == gpus.end() ? "none" : gpu->place.pci);
    same = same && i < list.size() && topo::pci_matches(got.back(), list[i].get<std::string>());
  }
  if (!same) item.differ(who + ": PCI " + expected->dump() + " expected, " + util::join(got, ",") + " found");
}

std::string shown(const IdSet& set) { return set.empty() ? "none" : set.to_list(); }

std::string shown(const std::vector<unsigned>& ids) {
  std::vector<std::string> texts;
  for (unsigned id : ids) texts.push_back(std::to_string(id));
  return texts.empty() ? "none" : util::join(texts, ",");
}

void compare_ranks(const Case& item, const std::vector<Rank>& ranks) {
  if (!item.expected().is_array()) return compare_checks(item, ranks);
  for (const Json& entry : item.expected()) {
    const unsigned task = number_of(entry, {"task", "rank"});
    const auto rank =
        std::find_if(ranks.begin(), ranks.end(), [&](const Rank& r) { return r.local_rank == task; });
    if (rank == ranks.end())
      item.differ("task " + std::to_string(task) + ": nothing is planned for it");
    else
      compare_rank(item, entry, *rank);
  }
  compare_checks(item, ranks);
  compare_emit(item, ranks);
}

void check_plan(const Case& item) {
  const auto plan = topo::plan_affinity(item.node, plan_request(item.request()));
  if (expects_error(item))
    return plan && !topo::unmet_request(item.node, plan_request(item.request()), *plan)
               ? item.differ("an error is expected, there is a plan")
               : void();
  if (!plan) return item.differ("no plan: " + plan.error().what);
  compare_ranks(item, plan->ranks);
}

void check_compat(const Case& item, const std::string& policy) {
  const auto plan = topo::plan_compat(item.node, compat_request(item.item, policy, item.node));
  if (expects_error(item)) return plan ? item.differ("an error is expected, there is a plan") : void();
  if (!plan) return item.differ("no plan: " + plan.error().what);
  compare_ranks(item, plan->plan.ranks);
  if (!item.expected().is_array() || plan->threads.empty()) return;
  for (const Json& entry : item.expected()) {
    const unsigned task = number_of(entry, {"task", "rank"}),
                   threads = number_of(entry, {"nthreads", "threads"});
    if (threads > 0 && task < plan->threads.size() && plan->threads[task] != threads)
      item.differ("task " + std::to_string(task) + ": " + std::to_string(threads) + " threads expected, " +
                  std::to_string(plan->threads[task]) + " planned");
  }
}

void check_inventory(const Case& item) {
  const Json& expected = item.expected();
  const auto& gpus = item.node.gpus;
  bool compared = false;
  const auto compare_numa = [&](std::size_t i, const Json& numa) {
    compared = true;
    const bool known = i < gpus.size() && gpus[i].place.numa;
    const Json found = known ? Json(*gpus[i].place.numa) : Json(nullptr);
    if (found != numa)
      item.differ("GPU " + std::to_string(i) + ": NUMA " + numa.dump() + " expected, " + found.dump() +
                  " found");
  };
  if (expected.is_array())
    for (const Json& entry : expected)
      if (entry.contains("gpu") && entry.contains("numa")) {
        const auto index = numbers_of(entry.at("gpu")), numa = numbers_of(entry.at("numa"));
        if (index.size() == 1 && numa.size() == 1) compare_numa(index.front(), numa.front());
      }
  for (const char* key : {"gpu_count", "gpus", "count"})
    if (expected.is_object() && expected.contains(key) && expected.at(key).is_number()) {
      compared = true;
      if (expected.at(key) != gpus.size()) item.differ(std::to_string(gpus.size()) + " GPUs counted");
    }
  if (expected.is_object() && expected.contains("gpu_numa"))
    for (std::size_t i = 0; i < expected.at("gpu_numa").size(); ++i)
      compare_numa(i, expected.at("gpu_numa")[i]);
  const auto choices = topo::nearest_nics(gpus, item.node.nics);
  for (std::size_t i = 0; expected.is_object() && expected.contains("nic_for_gpu") && i < gpus.size(); ++i) {
    compared = true;
    const std::string nic =
        text_of(expected.at("nic_for_gpu"), {std::to_string(gpus[i].place.index).c_str()});
    if (!nic.empty() && nic != choices[i].nic)
      item.differ("GPU " + std::to_string(i) + ": NIC " + nic + " expected, " + choices[i].nic + " found");
  }
  if (!compared) item.differ("nothing in the expectation is known");
}

} // namespace hpcml::agree
