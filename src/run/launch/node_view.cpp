// SPDX-License-Identifier: MIT
#include "run/launch/node_view.hpp"

#include <fmt/format.h>

#include "core/topo/live_nics.hpp"
#include "run/launch/interfaces.hpp"

namespace hpcml::launch {

const model::Site& site_or_none(const LaunchRequest& request) {
  static const model::Site k_none{};
  return request.site ? *request.site : k_none;
}

namespace {

/// Each CPU that may be used as a core: all that is known without /sys.
model::CpuShape cores_of(const model::IdSet& mask) {
  model::CpuShape shape;
  for (const unsigned cpu : mask.ids()) shape.core_threads.push_back(model::IdSet::of({cpu}));
  shape.cores = static_cast<unsigned>(shape.core_threads.size());
  shape.sockets = shape.threads_per_core = 1;
  return shape;
}

} // namespace

util::Result<NodeView> read_node(const LaunchRequest& request) {
  TRY(auto mask, topo::read_allowed_cpus());
  auto cpus = topo::read_live_cpus();
  if (!cpus && request.bind != BindMode::none)
    return util::Error{cpus.error().what, cpus.error().hint.empty()
                                              ? "use --bind none to start the program without binding"
                                              : fmt::format("{}, or use --bind none", cpus.error().hint)};
  if (!cpus) cpus = cores_of(mask);
  if (mask.empty())
    return util::Error{"this process may not use any CPU",
                       "check --cpu-bind of the step and the cgroup of the job"};
  NodeView node{std::move(*cpus), std::move(mask), topo::read_live_gpus(), {}, {}, {}};
  node.limits = read_limits();
  if (node.limits.locked_memory.soft < k_enough_locked_memory) node.locking_fabric = read_locking_fabric();
  const auto& names = site_or_none(request).network.interfaces;
  if (request.site)
    node.interfaces = read_interfaces(); // without one nothing names interfaces that could be missing
  if (request.gpus_per_task != 0U) node.nics = topo::read_live_nics(node.gpus.places, names);
  if (request.rank_order.kind == model::RankOrder::ring)
    if (auto whole = topo::read_live_node()) node.links = std::move(whole->links);
  return node;
}

} // namespace hpcml::launch
