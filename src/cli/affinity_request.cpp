// SPDX-License-Identifier: MIT
// What the flags of hpcml affinity ask of the planner.
#include <algorithm>
#include <map>

#include "cli/affinity_node.hpp"
#include "util/text.hpp"

namespace hpcml::cli {
namespace {

bool read_list(const std::string& flag, const std::string& text, model::IdSet& set, Failure& failure) {
  const auto read = model::IdSet::parse_list(text);
  if (read)
    set = *read;
  else
    failure.say(k_usage, flag + " " + text + ": " + read.error().what, read.error().hint);
  return read.ok();
}

} // namespace

std::optional<topo::AffinityRequest> make_affinity_request(const AffinityOptions& options, topo::Node& node, Failure& failure) {
  topo::AffinityRequest request;
  request.visible = options.gpus.empty() ? std::vector<std::string>() : util::split(options.gpus, ',');
  const auto visible = topo::visible_gpus(node, request.visible);
  if (!visible) {
    failure.say(k_cannot_satisfy, visible.error());
    return std::nullopt;
  }
  const std::size_t gpus = visible->size();
  request.ranks = options.ranks ? options.ranks : static_cast<unsigned>(std::max<std::size_t>(1, gpus));
  request.gpus_per_rank = options.gpus_per_rank;
  request.cpus_per_rank = options.cpus_per_rank;
  request.threads_per_core = std::max(1u, options.threads_per_core);
  request.ranks_per_gpu = options.ranks_per_gpu;
  request.whole_domain = options.whole;
  request.balanced = options.balanced;
  request.spill = options.spill == "package";
  static const std::map<std::string, topo::PoolLevel> levels = {{"l3", topo::PoolLevel::l3},
                                                                {"numa", topo::PoolLevel::numa},
                                                                {"package", topo::PoolLevel::package},
                                                                {"node", topo::PoolLevel::node}};
  if (const auto level = levels.find(options.domain); level != levels.end()) request.level = level->second;
  auto order = model::GpuOrder::parse(options.order);
  if (!order) {
    failure.say(k_usage, "--rank-order: " + order.error().what, order.error().hint);
    return std::nullopt;
  }
  request.order = std::move(*order);
  if (!read_list("--allowed", options.allowed, request.allowed, failure)) return std::nullopt;
  model::IdSet reserved;
  if (!read_list("--reserved", options.reserved, reserved, failure)) return std::nullopt;
  node.cpus.reserved = node.cpus.reserved | reserved;
  if (const auto unknown = request.allowed - node.cpus.all(); !unknown.empty()) {
    failure.say(k_cannot_satisfy, "the node has no CPUs " + unknown.to_list(),
                "its CPUs are " + node.cpus.all().to_list());
    return std::nullopt;
  }
  if (request.gpus_per_rank > 0 && std::size_t{request.ranks} * request.gpus_per_rank > gpus) {
    failure.say(k_cannot_satisfy,
                std::to_string(request.ranks) + " ranks with " + std::to_string(request.gpus_per_rank) +
                    " GPUs each need more than the node's " + std::to_string(gpus),
                "without --gpus-per-rank ranks share GPUs");
    return std::nullopt;
  }
  return request;
}

} // namespace hpcml::cli
