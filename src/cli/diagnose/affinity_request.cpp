// SPDX-License-Identifier: MIT
// What the flags of hpcml affinity ask of the planner.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "cli/diagnose/affinity_node.hpp"
#include "core/topo/compat.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {
namespace {

bool read_list(const std::string& flag, const std::string& text, model::IdSet& set,
               CommandErrorReporter& failure) {
  const auto read = model::IdSet::parse_list(text);
  if (read)
    set = *read;
  else
    failure.print(k_usage, fmt::format("{} {}: {}", flag, text, read.error().what), read.error().hint);
  return read.ok();
}

/// One rank per GPU, or as many as the GPUs per rank, or ranks per GPU, leave.
unsigned default_ranks(const AffinityOptions& options, std::size_t gpus) {
  if (options.gpus_per_rank > 0) gpus /= options.gpus_per_rank;
  if (options.ranks_per_gpu > 0) gpus *= options.ranks_per_gpu;
  return static_cast<unsigned>(std::max<std::size_t>(1, gpus));
}

/// The planner makes the best of too little; what was asked for by number is refused instead.
util::Status check_amounts(const topo::AffinityRequest& request, const topo::Node& node) {
  const std::size_t ranks = request.ranks, gpus = node.gpus.size(), each = request.ranks_per_gpu;
  if (request.gpus_per_rank > 0 && ranks * request.gpus_per_rank > gpus)
    return util::Error{fmt::format("{} ranks with {} GPUs each need {} GPUs, but the node has {}", ranks,
                                   request.gpus_per_rank, ranks * request.gpus_per_rank, gpus),
                       "use fewer --ranks, or remove --gpus-per-rank, so that ranks share GPUs"};
  const std::size_t needed =
      each > 0 ? (ranks + each - 1) / each : ranks * std::max(1u, request.gpus_per_rank);
  if (each > 0 && needed > gpus)
    return util::Error{fmt::format("{} ranks need {} GPUs with {} ranks per GPU, but the node has {}", ranks,
                                   needed, each, gpus),
                       "use fewer --ranks, or remove --ranks-per-gpu, so that more ranks share a GPU"};
  const auto& list = request.order.list;
  const auto named = model::IdSet::of(list); // the planner reports duplicate and unknown GPUs
  const bool good =
      !list.empty() && named.size() == list.size() && *std::max_element(list.begin(), list.end()) < gpus;
  if (good && list.size() < std::min(needed, gpus))
    return util::Error{fmt::format("--rank-order {} names {} GPUs, but {} ranks need {}",
                                   request.order.text(), list.size(), ranks, needed),
                       "add the other GPUs to --rank-order, or use --ranks-per-gpu N to share GPUs"};
  std::size_t threads = 0;
  for (const auto& core : node.cpus.core_threads) threads = std::max(threads, core.size());
  if (threads > 0 && request.threads_per_core > threads)
    return util::Error{fmt::format("--threads-per-core is {}, but the cores of the node have {}",
                                   request.threads_per_core, util::counted(threads, "hardware thread")),
                       fmt::format("use --threads-per-core {} or less", threads)};
  return util::Success{};
}

} // namespace

bool check_policy(const AffinityOptions& options, CommandErrorReporter& failure) {
  if (options.policy == "hpcml") return true;
  std::vector<std::string> flags;
  const auto add = [&](bool is_set, const char* flag) {
    if (is_set) flags.emplace_back(flag);
  };
  add(options.gpus_per_rank > 0, "--gpus-per-rank");
  add(options.ranks_per_gpu > 0, "--ranks-per-gpu");
  add(options.order != "gpu", "--rank-order");
  add(!options.domain.empty(), "--domain");
  add(options.whole, "--whole-domain");
  add(options.balanced, "--balanced");
  add(options.idle_cores != "none", "--idle-cores");
  // torchrun takes what there is, mpibind counts threads instead of cores, the two modes take one core.
  const bool torch = options.policy.starts_with("torch-");
  add(options.cpus_per_rank > 0 &&
          (torch || options.policy == "mpibind" || options.policy.starts_with("nvidia-single")),
      "--cpus-per-rank");
  add(options.threads_per_core > 0 && torch, "--threads-per-core");
  if (flags.empty()) return true;
  failure.print(k_usage,
                fmt::format("--policy {} cannot be used with {}", options.policy, util::join(flags, ", ")),
                "remove these options, or remove --policy to place ranks as hpcml does");
  return false;
}

std::optional<topo::AffinityRequest> read_affinity_request(const AffinityOptions& options, topo::Node& node,
                                                           CommandErrorReporter& failure) {
  topo::AffinityRequest request;
  if (!options.gpus.empty()) {
    auto visible = topo::with_visible_gpus(node, util::split(options.gpus, ','));
    if (!visible) {
      failure.print(k_cannot_satisfy, visible.error());
      return std::nullopt;
    }
    node = std::move(*visible);
  }
  request.ranks = options.ranks ? options.ranks : default_ranks(options, node.gpus.size());
  request.gpus_per_rank = options.gpus_per_rank;
  request.cpus_per_rank = options.cpus_per_rank;
  request.threads_per_core = std::max(1u, options.threads_per_core);
  request.ranks_per_gpu = options.ranks_per_gpu;
  request.whole_domain = options.whole;
  request.balanced = options.balanced;
  request.idle_cores = options.idle_cores == "package";
  static const std::map<std::string, topo::PoolLevel> levels = {{"l3", topo::PoolLevel::l3},
                                                                {"numa", topo::PoolLevel::numa},
                                                                {"package", topo::PoolLevel::package},
                                                                {"node", topo::PoolLevel::node}};
  if (const auto level = levels.find(options.domain); level != levels.end()) request.level = level->second;
  auto order = model::GpuOrder::parse(options.order);
  if (!order) {
    failure.print(k_usage, fmt::format("--rank-order: {}", order.error().what), order.error().hint);
    return std::nullopt;
  }
  request.order = std::move(*order);
  if (!read_list("--allowed", options.allowed, request.allowed, failure)) return std::nullopt;
  model::IdSet reserved;
  if (!read_list("--reserved", options.reserved, reserved, failure)) return std::nullopt;
  if (const auto unknown = (request.allowed | reserved) - node.cpus.all(); !unknown.empty()) {
    failure.print(
        k_cannot_satisfy,
        fmt::format("the node has no CPUs {}, which --allowed or --reserved names", unknown.to_list()),
        fmt::format("use only CPUs of {} in --allowed and --reserved", node.cpus.all().to_list()));
    return std::nullopt;
  }
  node.cpus.reserved = node.cpus.reserved | reserved;
  if (const auto checked = check_amounts(request, node); !checked) {
    failure.print(k_cannot_satisfy, checked.error());
    return std::nullopt;
  }
  return request;
}

} // namespace hpcml::cli
