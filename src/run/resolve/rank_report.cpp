// SPDX-License-Identifier: MIT
#include "run/resolve/rank_report.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/topo/affinity.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "run/resolve/gpus.hpp"

namespace hpcml::launch {

namespace {

std::string numa_text(const model::CpuShape& shape, const model::IdSet& cpus) {
  const auto nodes = topo::numa_of(shape, cpus);
  return shape.numa.size() > 1 && !nodes.empty() ? fmt::format(" (NUMA {})", nodes.to_list()) : "";
}

std::string binding_text(const RankSetup& setup) {
  const auto& planned = setup.plan.binding.cpus;
  const NodeSetup& node = *setup.node;
  switch (node.binding.mode) {
  case BindMode::apply:
    return planned.empty() ? "none: no core is available for this rank"
                           : fmt::format("CPUs {}, {}", planned.to_list(), node.binding.why);
  case BindMode::verify:
    return fmt::format("CPUs {} unchanged (planned: {}), {}", node.mask.to_list(), planned.to_list(),
                       node.binding.why);
  case BindMode::none:
  case BindMode::automatic: break;
  }
  return fmt::format("CPUs {} unchanged, {}", node.mask.to_list(),
                     node.agent ? "the agent uses the whole node" : node.binding.why);
}

/// The GPUs that are the rank's own, and all that it sees where these are more: "1 of 0,1".
std::string gpus_text(const RankSetup& setup) {
  const auto& gpus = setup.node->gpus;
  const auto& layout = setup.world.layout;
  if (setup.node->agent || gpus.visible.entries.empty()) return setup.gpus;
  const auto own = gpus_of_local_rank(gpus.visible, layout.local_rank, layout.local_world_size,
                                      std::max(1U, gpus.per_rank));
  return own == setup.gpus ? own : fmt::format("{} of {}", own, setup.gpus);
}

/// "key from HPCML_JOB_SECRET", "no key (why)".
std::string describe_channel(const JobChannelKey& channel) {
  return channel.is_shared && !channel.is_open ? fmt::format("key from {}", channel.origin)
                                               : fmt::format("no key ({})", channel.origin);
}

std::string render_rank(const RankSetup& setup, const std::vector<std::string>& command) {
  std::string text;
  for (const auto& [name, value] : setup.changes) text += name + "=" + util::shell_quote(value) + "\n";
  for (const auto& name : setup.removed) text += "unset " + name + "\n";
  text += "binding: " + binding_text(setup) + "\n";
  if (const auto& channel = setup.world.channel; channel.key)
    text += "channel: " + describe_channel(channel) + "\n";
  if (!setup.plan.binding.why.empty()) text += "because: " + setup.plan.binding.why + "\n";
  for (const auto& variable : setup.plan.env) {
    const bool set = std::any_of(setup.changes.begin(), setup.changes.end(),
                                 [&](const auto& change) { return change.first == variable.name; });
    if (set && variable.origin.kind == model::OriginKind::rule && !variable.origin.by.empty())
      text += variable.name + " because: " + variable.origin.by + "\n";
  }
  const NodeSetup& node = *setup.node;
  for (const auto& cache : node.cache_paths) text += "cache: " + cache + "\n";
  for (const auto* list : {&node.warnings, &node.plan.warnings, &setup.warnings, &node.node_warnings})
    for (const auto& warning : *list) text += "warning: " + warning + "\n";
  return text + "exec: " + util::shell_line(command) + "\n";
}

} // namespace

std::string render_report(const RankSetup& setup, const std::string& host, const model::IdSet& kernel_cpus) {
  const auto& layout = setup.world.layout;
  std::string line =
      fmt::format("{}: GPU {}, CPUs {}{}", rank_label(location_of(layout, host)), gpus_text(setup),
                  kernel_cpus.to_list(), numa_text(setup.node->cpus, kernel_cpus));
  if (!setup.plan.binding.nic.empty()) line += fmt::format(", NIC {}", setup.plan.binding.nic);
  line += fmt::format(", master {}:{}", setup.world.address, setup.world.port);
  const auto& channel = setup.world.channel;
  return channel.key ? fmt::format("{}, {}", line, describe_channel(channel)) : line;
}

std::string gpus_of_rank(const RankSetup& setup) {
  const auto& gpus = setup.node->gpus;
  if (setup.node->agent || gpus.visible.entries.empty()) return {};
  const auto& layout = setup.world.layout;
  const auto own = gpus_of_local_rank(gpus.visible, layout.local_rank, layout.local_world_size,
                                      std::max(1U, gpus.per_rank));
  return (own.find(',') == std::string::npos ? "GPU " : "GPUs ") + own;
}

std::string render_dry_run(const ResolvedLaunch& resolved, const LaunchRequest& request) {
  std::string text;
  for (const auto& setup : resolved.make_ranks(request)) {
    if (resolved.starts_ranks)
      text += (text.empty() ? "# rank " : "\n# rank ") + std::to_string(setup.world.layout.rank) + "\n";
    text += render_rank(setup, request.command);
  }
  return text;
}

} // namespace hpcml::launch
