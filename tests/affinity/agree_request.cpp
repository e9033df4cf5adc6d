// SPDX-License-Identifier: MIT
#include "agree_request.hpp"

#include <algorithm>
#include <set>

#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

const Json* find(const Json& object, std::initializer_list<const char*> keys) {
  if (!object.is_object()) return nullptr;
  for (const char* key : keys)
    if (const auto found = object.find(key); found != object.end() && !found->is_null()) return &*found;
  return nullptr;
}

bool flag_of(const Json& object, std::initializer_list<const char*> keys, bool fallback) {
  const Json* value = find(object, keys);
  if (!value) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number()) return value->get<int>() != 0;
  return fallback;
}

std::string normal(std::string text) {
  text = util::to_lower(text);
  for (char& c : text)
    if (c == '_' || c == ' ') c = '-';
  return text;
}

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

topo::PoolLevel level_of(const std::string& scope) {
  if (has(scope, "l3")) return topo::PoolLevel::l3;
  if (has(scope, "socket") || has(scope, "package")) return topo::PoolLevel::package;
  if (has(scope, "machine") || scope == "all") return topo::PoolLevel::node;
  return topo::PoolLevel::numa; // "numa", and "node" as NVIDIA's tool says it
}

} // namespace

unsigned number_of(const Json& object, std::initializer_list<const char*> keys, unsigned fallback) {
  const Json* value = find(object, keys);
  if (value && value->is_number_unsigned()) return value->get<unsigned>();
  if (value && value->is_string())
    return static_cast<unsigned>(util::parse_unsigned(value->get<std::string>()).value_or(fallback));
  return fallback;
}

std::string text_of(const Json& object, std::initializer_list<const char*> keys) {
  const Json* value = find(object, keys);
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

model::IdSet cpus_of(const Json& object, std::initializer_list<const char*> keys) {
  const Json* value = find(object, keys);
  if (value && value->is_array()) return model::IdSet::of(numbers_of(*value));
  return model::IdSet::parse_list(text_of(object, keys)).value_or({});
}

std::vector<unsigned> numbers_of(const Json& value) {
  std::vector<unsigned> numbers;
  if (value.is_number_unsigned()) numbers.push_back(value.get<unsigned>());
  if (value.is_array())
    for (const Json& entry : value)
      if (entry.is_number_unsigned()) numbers.push_back(entry.get<unsigned>());
  if (value.is_string())
    if (const auto set = model::IdSet::parse_list(value.get<std::string>())) numbers = set->ids();
  return numbers;
}

topo::AffinityRequest plan_request(const Json& request) {
  topo::AffinityRequest wanted;
  wanted.ranks = number_of(request, {"tasks", "ntasks", "tasks_per_node"}, 1);
  wanted.gpus_per_rank = number_of(request, {"gpus_per_task"});
  wanted.ranks_per_gpu = number_of(request, {"tasks_per_gpu", "ntasks_per_gpu"});
  wanted.threads_per_core = std::max(1u, number_of(request, {"threads_per_core", "smt"}, 1));
  const unsigned cpus = number_of(request, {"cpus_per_task"});
  wanted.cpus_per_rank = (cpus + wanted.threads_per_core - 1) / wanted.threads_per_core;
  wanted.allowed = cpus_of(request, {"allowed_cpus", "allowed"});
  wanted.balanced = flag_of(request, {"balanced"}, false);
  const Json* spill = find(request, {"spill"});
  wanted.idle_cores = spill && ((spill->is_boolean() && spill->get<bool>()) ||
                                (spill->is_string() && spill->get<std::string>() == "package"));
  if (const std::string scope = normal(text_of(request, {"scope", "domain"})); !scope.empty()) {
    wanted.level = level_of(scope);
    wanted.whole_domain = true;
  }
  const std::string order = text_of(request, {"rank_order", "order"});
  if (order == "cpu") wanted.order.kind = model::GpuOrderKind::cpu;
  if (const Json* list = find(request, {"gpu_list", "gpu_order", "ring"}); list && list->is_array()) {
    wanted.order = {model::GpuOrderKind::list, numbers_of(*list)};
  }
  if (const Json* visible = find(request, {"visible_gpus_pci", "visible_pci"});
      visible && visible->is_array())
    for (const Json& address : *visible)
      if (address.is_string()) wanted.visible.push_back(address.get<std::string>());
  return wanted;
}

std::string policy_of(const Json& item) {
  const Json& request = item.at("request");
  const bool foreign = text_of(item, {"use"}) == "foreign-policy" || item.contains("policy");
  if (!foreign && text_of(request, {"policy"}).empty()) return {};
  // From the most to the least exact: a mode of its own, the policy, the name of the case.
  const std::vector<std::string> words = {
      normal(text_of(request, {"affinity_mode", "mode"})), normal(text_of(item, {"policy"})),
      normal(text_of(request, {"policy", "tool"})), normal(text_of(item, {"id"}))};
  const auto any = [&](const char* word) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& text) { return has(text, word); });
  };
  const auto mode = [&](const char* tool, std::initializer_list<const char*> modes) {
    for (const std::string& text : words)
      for (const char* name : modes)
        if (has(text, name)) return std::string(tool) + name;
    return std::string(tool) + "?";
  };
  if (any("mpibind")) return "mpibind";
  if (any("torch")) return mode("torch-", {"core-complex", "exclusive", "socket", "node"});
  if (any("nvidia") || any("gpu-affinity") || any("nvaff"))
    return mode("nvidia-", {"unique-contiguous", "unique-interleaved", "single-unique", "single", "all"});
  if (any("slurm") && any("closest")) return "slurm-closest";
  return normal(text_of(item, {"policy"}));
}

topo::ThirdPartyAffinityRequest compat_request(const Json& item, const std::string& policy,
                                               const topo::Node& node) {
  const Json& request = item.at("request");
  topo::ThirdPartyAffinityRequest wanted;
  wanted.policy = policy;
  const Json& expected = item.at("expected");
  const auto listed =
      static_cast<unsigned>(std::max<std::size_t>(1, expected.is_array() ? expected.size() : 1));
  wanted.ranks = number_of(request, {"tasks", "ntasks", "nproc_per_node"}, listed);
  wanted.allowed = cpus_of(request, {"allowed_cpus", "allowed"});
  // Its own results are of whole machines: it has no setting for cores that a site keeps.
  if (policy == "mpibind" && wanted.allowed.empty() && node.allowed.empty()) wanted.allowed = node.cpus.all();
  wanted.threads = number_of(request, {"nthreads", "in_nthreads", "threads", "omp_threads"});
  wanted.smt = number_of(request, {"smt"});
  wanted.greedy = flag_of(request, {"greedy"}, true);
  wanted.gpu_optim = flag_of(request, {"gpu_optim", "gpu"}, true);
  wanted.restrict_ids = text_of(
      request, {"restr_set", "restrict_ids", "restrict_set", "restrict", "restrict_cpu", "restrict_cpus"});
  const Json* type = find(request, {"restrict_type", "restr_type"});
  wanted.restrict_memory = type && ((type->is_number() && type->get<int>() == 1) ||
                                    (type->is_string() && has(type->get<std::string>(), "mem")));
  if (const std::string nodes = text_of(request, {"restrict_mem", "restrict_numa"}); !nodes.empty()) {
    wanted.restrict_ids = nodes;
    wanted.restrict_memory = true;
  }
  const std::string threads = normal(text_of(request, {"multithreading", "cores", "logical"}));
  wanted.all_logical = !has(threads, "single");
  wanted.socket_scope = has(normal(text_of(request, {"scope"})), "socket");
  wanted.balanced = flag_of(request, {"balanced"}, true);
  wanted.min_cores = number_of(request, {"min_physical_cores", "min_cores"}, 1);
  wanted.max_cores = number_of(request, {"max_physical_cores", "max_cores"});
  wanted.cpus_per_rank = number_of(request, {"cpus_per_task"});
  wanted.l3_as_socket = !node.cpus.l3.empty();
  return wanted;
}

std::vector<std::string> unread_keys(const Json& item) {
  static const std::set<std::string> request = {"tasks",
                                                "ntasks",
                                                "tasks_per_node",
                                                "nproc_per_node",
                                                "nodes",
                                                "gpus",
                                                "gpus_per_task",
                                                "tasks_per_gpu",
                                                "ntasks_per_gpu",
                                                "cpus_per_task",
                                                "threads_per_core",
                                                "smt",
                                                "allowed_cpus",
                                                "allowed",
                                                "balanced",
                                                "spill",
                                                "scope",
                                                "domain",
                                                "rank_order",
                                                "order",
                                                "gpu_list",
                                                "gpu_order",
                                                "ring",
                                                "visible_gpus_pci",
                                                "visible_pci",
                                                "dataloader_workers",
                                                "workers",
                                                "policy",
                                                "tool",
                                                "affinity_mode",
                                                "mode",
                                                "local_rank",
                                                "nthreads",
                                                "in_nthreads",
                                                "threads",
                                                "omp_threads",
                                                "greedy",
                                                "gpu_optim",
                                                "gpu",
                                                "restr_set",
                                                "restrict_ids",
                                                "restrict_set",
                                                "restrict",
                                                "restrict_cpu",
                                                "restrict_cpus",
                                                "restrict_type",
                                                "restr_type",
                                                "restrict_mem",
                                                "restrict_numa",
                                                "multithreading",
                                                "cores",
                                                "logical",
                                                "min_physical_cores",
                                                "min_cores",
                                                "max_physical_cores",
                                                "max_cores",
                                                "cmd",
                                                "cpu_bind",
                                                "gpu_bind",
                                                "gres_flags",
                                                "distribution",
                                                "inventory",
                                                "select",
                                                "parse_mask_list",
                                                "parse_mask",
                                                "parse_cpu_bind",
                                                "parse_line",
                                                "table",
                                                "parse_nvidia_smi_numa_affinity"};
  static const std::set<std::string> task = {
      "task",        "rank",     "node",       "gpu",     "cpus",
      "mask",        "l3",       "numa",       "membind", "nic",
      "omp_threads", "nthreads", "threads",    "pci",     "visible_devices",
      "ok",          "why",      "shared_with"};
  static const std::set<std::string> checks = {"per_task_cores", "cores_per_task", "same_package", "disjoint",
                                               "whole_l3",       "must_include",   "smt_not_split"};
  std::set<std::string> unread;
  const auto look = [&](const Json& object, const std::string& where, const std::set<std::string>& known) {
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.items())
      if (known.count(key) == 0) unread.insert(where + "." + key);
  };
  look(item.at("request"), "request", request);
  if (item.contains("checks")) look(item.at("checks"), "checks", checks);
  if (item.at("expected").is_array())
    for (const Json& entry : item.at("expected")) look(entry, "expected", task);
  return {unread.begin(), unread.end()};
}

std::vector<topo::PlacedRank> placed_tasks(const Json& expected) {
  std::vector<topo::PlacedRank> tasks;
  if (!expected.is_array()) return tasks;
  for (const Json& entry : expected) {
    topo::PlacedRank task;
    task.rank = number_of(entry, {"task", "rank"}, static_cast<unsigned>(tasks.size()));
    if (const auto gpus = entry.find("gpu"); gpus != entry.end()) task.gpus = numbers_of(*gpus);
    task.cpus = cpus_of(entry, {"cpus"});
    task.nic = text_of(entry, {"nic"});
    tasks.push_back(std::move(task));
  }
  return tasks;
}

} // namespace hpcml::agree
