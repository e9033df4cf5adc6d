// SPDX-License-Identifier: MIT
#include "core/topo/compat.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/topo/compat_rules.hpp"
#include "core/util/choice_hint.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {

using model::IdSet;

std::vector<std::string> compat_policies() {
  return {"torch-node",
          "torch-socket",
          "torch-exclusive",
          "torch-core-complex",
          "mpibind",
          "nvidia-unique-contiguous",
          "nvidia-unique-interleaved",
          "nvidia-single-unique",
          "nvidia-single",
          "nvidia-all",
          "slurm-closest"};
}

util::Result<ThirdPartyAffinityPlan> plan_compat(const Node& node, const ThirdPartyAffinityRequest& request) {
  if (request.ranks == 0)
    return util::Error{"there are no ranks to place on the node", "use --ranks N to set their number"};
  if (node.cpus.core_threads.empty())
    return util::Error{"the CPUs of the node are unknown, so this policy cannot place ranks",
                       "use --policy hpcml, or --topology FILE with a file that lists the CPUs"};
  const std::vector<std::string> names = compat_policies();
  if (std::find(names.begin(), names.end(), request.policy) == names.end()) {
    return util::Error{fmt::format("unknown policy '{}'", request.policy),
                       util::choice_hint(request.policy, names, "hpcml affinity --help")};
  }
  if (request.policy.starts_with("torch-")) return plan_like_torch(node, request);
  if (request.policy.starts_with("nvidia-")) return plan_like_nvidia(node, request);
  if (request.policy == "mpibind") return plan_like_mpibind(node, request);
  return plan_like_slurm(node, request);
}

IdSet seen_cpus(const Node& node, const ThirdPartyAffinityRequest& request) {
  if (!request.allowed.empty()) return request.allowed & node.cpus.all();
  if (!node.allowed.empty()) return node.allowed;
  return node.cpus.all() - node.cpus.reserved;
}

unsigned numa_or_zero(const Gpu& gpu) { return gpu.place.numa.value_or(0); }

void add_rank(ThirdPartyAffinityPlan& plan, const Node& node, unsigned rank, std::vector<unsigned> gpus,
              const IdSet& cpus, const std::string& why) {
  model::PlannedRankBinding binding;
  binding.local_rank = rank;
  binding.gpus = std::move(gpus);
  binding.cpus = cpus;
  for (const IdSet& core : node.cpus.core_threads) binding.cores += core.intersects(cpus) ? 1 : 0;
  for (const model::CpuDomain& domain : node.cpus.numa)
    if (domain.cpus.intersects(cpus)) binding.numa.add(domain.id);
  binding.why = why;
  plan.plan.ranks.push_back(std::move(binding));
}

} // namespace hpcml::topo
