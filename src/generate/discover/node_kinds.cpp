// SPDX-License-Identifier: MIT
#include "generate/discover/node_kinds.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/util/text.hpp"
#include "generate/discover/gpu_architecture.hpp"

namespace hpcml::discover {

namespace {

using slurm::NodeRecord;

/// What a job can have: nothing of it is the system's.
unsigned long long job_memory(const NodeRecord& node) {
  return node.memory_mib > node.system_memory_mib ? node.memory_mib - node.system_memory_mib
                                                  : node.memory_mib;
}

/// The GPUs that the node is for, and all its other ones.
void take_gpus(const NodeRecord& node, NodeKind& kind) {
  const slurm::GresRecord* main = nullptr;
  for (const auto& gres : node.gres) {
    if (gres.name != "gpu" || gres.count == 0) continue;
    const bool better = main == nullptr || (is_gpu_slice(main->type) && !is_gpu_slice(gres.type)) ||
                        (is_gpu_slice(main->type) == is_gpu_slice(gres.type) && gres.count > main->count);
    if (better) main = &gres;
  }
  if (main == nullptr) return;
  kind.gpus = static_cast<unsigned>(std::min<unsigned long long>(main->count, 1024));
  kind.gpu_type = main->type;
  for (const auto& gres : node.gres)
    if (gres.name == "gpu" && &gres != main && gres.count > 0) kind.other_gpus.push_back(gres);
}

/// All that distinguishes kinds but memory and the architecture, which nodes that are down do not say.
std::string shape_key(const NodeRecord& node) {
  std::string key;
  for (const auto number : {node.sockets, node.cores_per_socket, node.threads_per_core, node.reserved_cores})
    key += std::to_string(number) + " ";
  key += node.reserved_cpus;
  for (const auto& gres : node.gres)
    if (gres.name == "gpu") key += " " + gres.type + ":" + std::to_string(gres.count);
  return key;
}

NodeKind make_kind(const std::vector<const NodeRecord*>& nodes) {
  const auto& first = *nodes.front();
  NodeKind kind;
  kind.sockets = first.sockets;
  kind.cores = first.sockets * first.cores_per_socket;
  kind.threads_per_core = first.threads_per_core;
  kind.reserved_cores = first.reserved_cores;
  if (const auto reserved = model::IdSet::parse_list(first.reserved_cpus)) kind.reserved = *reserved;
  kind.memory_mib = job_memory(first);
  kind.features = first.features;
  take_gpus(first, kind);
  for (const auto* node : nodes) {
    if (kind.arch.empty()) kind.arch = node->arch;
    kind.memory_mib = std::min(kind.memory_mib, job_memory(*node));
    kind.nodes.push_back(node->name);
    std::erase_if(kind.features, [&](const std::string& feature) {
      return std::find(node->features.begin(), node->features.end(), feature) == node->features.end();
    });
    for (const auto& partition : node->partitions)
      if (!kind.in(partition)) kind.partitions.push_back(partition);
  }
  return kind;
}

/// Nodes of one shape, split where the memory makes a step of a twentieth or more.
std::vector<std::vector<const NodeRecord*>> split_by_memory(std::vector<const NodeRecord*> nodes) {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const auto* a, const auto* b) { return job_memory(*a) < job_memory(*b); });
  std::vector<std::vector<const NodeRecord*>> groups;
  for (const auto* node : nodes) {
    const bool step = groups.empty() || job_memory(*node) * 20 > job_memory(*groups.back().front()) * 21;
    if (step) groups.emplace_back();
    groups.back().push_back(node);
  }
  return groups;
}

std::string plain_name(const std::string& text) {
  std::string name;
  for (const char c : util::to_lower(text))
    name += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                    (c == '-' && !name.empty())
                ? c
                : '_';
  return name;
}

std::string first_id(const NodeKind& kind) {
  if (kind.gpus == 0) return "cpu" + std::to_string(kind.cores);
  return plain_name(kind.gpu_type.empty() ? "gpu" : kind.gpu_type) + "x" + std::to_string(kind.gpus);
}

void name_kinds(std::vector<NodeKind>& kinds) {
  std::map<std::string, unsigned> uses;
  for (auto& kind : kinds) ++uses[kind.id = first_id(kind)];
  std::set<std::string> taken;
  for (auto& kind : kinds) {
    if (uses[kind.id] > 1) kind.id += "-" + std::to_string(kind.memory_mib / 1024) + "g";
    const auto base = kind.id;
    for (unsigned i = 2; !taken.insert(kind.id).second; ++i) kind.id = base + "-" + std::to_string(i);
  }
}

} // namespace

std::vector<NodeKind> make_node_kinds(const std::vector<NodeRecord>& nodes) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const NodeRecord*>> shapes;
  for (const auto& node : nodes) {
    if (node.partitions.empty()) continue; // no job gets there: spares, or names that are kept for later
    const auto key = shape_key(node);
    if (!shapes.contains(key)) order.push_back(key);
    shapes[key].push_back(&node);
  }
  std::vector<NodeKind> kinds;
  for (const auto& key : order)
    for (const auto& group : split_by_memory(shapes[key])) kinds.push_back(make_kind(group));
  name_kinds(kinds);
  return kinds;
}

model::IdSet usual_numbering(const model::IdSet& slurm_ids, unsigned cores, unsigned threads_per_core) {
  model::IdSet ids;
  for (const unsigned id : slurm_ids.ids())
    if (id / threads_per_core < cores) ids.add(id / threads_per_core + id % threads_per_core * cores);
  return ids;
}

HostNamePattern find_host_form(const std::vector<std::string>& names) {
  std::optional<HostNamePattern> form;
  for (const auto& name : names) {
    const auto last = name.find_last_not_of("0123456789");
    const auto start = last == std::string::npos ? 0 : last + 1;
    const HostNamePattern host_form{name.substr(0, start), static_cast<unsigned>(name.size() - start)};
    if (host_form.digits == 0 || host_form.prefix.empty() ||
        (form && (form->prefix != host_form.prefix || form->digits != host_form.digits)))
      return {};
    form = host_form;
  }
  return form.value_or(HostNamePattern{});
}

} // namespace hpcml::discover
