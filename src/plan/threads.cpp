// SPDX-License-Identifier: MIT
#include "plan/threads.hpp"

#include <algorithm>

#include "plan/environment.hpp"
#include "plan/plan_context.hpp"

namespace hpcml::plan {

std::vector<model::PlannedEnv> thread_environment(const model::Site& site, const ThreadFacts& facts) {
  if (facts.cores == 0) return {};
  constexpr unsigned k_most_workers = 16; // each holds batches in memory; more than a GPU can take in are of no use
  const auto task = [](const char* name, unsigned value, const std::string& why) {
    return model::PlannedEnv{name, std::to_string(value), false, model::Scope::task, by_rule(why)};
  };
  const auto wanted = facts.workers_wanted;
  auto env = openmp_environment(site, facts.cores);
  if (wanted && *wanted > 0) {
    const unsigned left = facts.cores > *wanted ? facts.cores - *wanted : 1;
    set_variable(env, task("OMP_NUM_THREADS", left, "the rank's " + std::to_string(facts.cores) + " cores without those of its " + std::to_string(*wanted) + " data loaders"),
                 "the data loaders need cores, too");
  }
  env.push_back(facts.gpus ? task("HPCML_INTEROP_THREADS", 1, "the GPU runs operators beside each other, the cores need not")
                           : task("HPCML_INTEROP_THREADS", std::min(2U, facts.cores), "two operators at a time, each with the rank's threads"));
  if (!wanted)
    env.push_back(facts.gpus ? task("HPCML_DATALOADER_WORKERS", std::min(k_most_workers, facts.cores - 1),
                                    facts.cores - 1 > k_most_workers ? "one core each, at most 16" : "one for each core but that of the rank itself")
                             : task("HPCML_DATALOADER_WORKERS", 0, "the rank computes on all of its cores"));
  return env;
}

} // namespace hpcml::plan
