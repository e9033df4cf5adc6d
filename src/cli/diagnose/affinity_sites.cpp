// SPDX-License-Identifier: MIT
// hpcml affinity --all-sites: the placement on each node type whose GPUs' places are known, as Markdown.
#include <algorithm>
#include <cstdio>

#include "cli/diagnose/affinity_node.hpp"
#include "core/config/site_store.hpp"
#include "core/topo/affinity.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// Returns one row per rank; empty if the profile lacks the GPUs' places or the CPUs.
std::string render_node(const model::NodeType& type) {
  const topo::Node node = topo::make_node(type);
  const bool known = std::all_of(node.gpus.begin(), node.gpus.end(),
                                 [](const topo::Gpu& gpu) { return gpu.place.numa || gpu.place.l3; });
  if (node.gpus.empty() || !known || node.cpus.core_threads.empty()) return {};
  topo::AffinityRequest request;
  request.ranks = static_cast<unsigned>(node.gpus.size());
  const auto plan = topo::plan_affinity(node, request);
  if (!plan) return {};
  std::string text = "| rank | GPU | cores | CPUs | NUMA | memory | NIC |\n|---|---|---|---|---|---|---|\n";
  for (const auto& rank : plan->ranks)
    text += "| " + std::to_string(rank.local_rank) + " | " + model::IdSet::of(rank.gpus).to_list() + " | " +
            std::to_string(rank.cores) + " | " + rank.cpus.to_list() + " | " + or_dash(rank.numa.to_list()) +
            " | " + or_dash(rank.memory.to_list()) + " | " + or_dash(rank.nic) + " |\n";
  if (!node.cpus.reserved.empty()) text += "\nCPUs " + node.cpus.reserved.to_list() + " are reserved.\n";
  return text;
}

} // namespace

void print_site_tables(const Context& context) {
  const auto directories = config::site_directories(context.sites_dirs, context.env);
  std::vector<std::string> unknown;
  for (const auto& id : config::list_sites(directories)) {
    const auto load = config::load_site(id, directories);
    if (!load.site) continue;
    bool any = false, gpus = false;
    for (const auto& type : load.site->node_types) {
      const std::string table = render_node(type);
      if (!table.empty())
        std::printf("## %s: %s\n\n%s\n", load.site->name.c_str(), type.id.c_str(), table.c_str());
      any = any || !table.empty();
      gpus = gpus || type.gpu;
    }
    if (gpus && !any) unknown.push_back(id);
  }
  std::printf(
      "## Not known before a job runs\n\nThe profiles of these sites do not describe where the GPUs of "
      "their nodes are. In a job, hpcml reads it from the node: %s.\n",
      util::join(unknown, ", ").c_str());
}

} // namespace hpcml::cli
