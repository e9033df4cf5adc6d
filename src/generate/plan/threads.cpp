// SPDX-License-Identifier: MIT
#include "generate/plan/threads.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "generate/plan/environment.hpp"
#include "generate/plan/plan_step_diagnostics.hpp"

namespace hpcml::plan {

std::vector<model::PlannedEnv> thread_environment(const model::Site& site, const ThreadFacts& facts) {
  if (facts.cores == 0) return {};
  constexpr unsigned k_most_workers =
      16; // each holds batches in memory; more than a GPU can take in are of no use
  const auto task = [](const char* name, unsigned value, const std::string& why) {
    return model::PlannedEnv{name, std::to_string(value), false, model::ValueScope::task, rule_origin(why)};
  };
  const auto wanted = facts.workers_wanted;
  // Loaders wait for files and decode: a core's second thread is good enough for them, and for no matrix
  // product.
  const unsigned threads = std::max(facts.threads, facts.cores);
  const std::string each = threads > facts.cores ? "hardware thread" : "core";
  auto env = openmp_environment(site, facts.cores);
  if (wanted && *wanted > 0) {
    const unsigned left = threads > *wanted ? std::min(facts.cores, threads - *wanted) : 1;
    set_variable(
        env,
        task("OMP_NUM_THREADS", left,
             fmt::format("the rank's {} {}s without those of its {} data loaders", threads, each, *wanted)),
        "the data loaders also need cores");
  }
  env.push_back(facts.gpus ? task("HPCML_INTEROP_THREADS", 1,
                                  "the GPU can run operators in parallel, the cores need not")
                           : task("HPCML_INTEROP_THREADS", std::min(2U, facts.cores),
                                  "two operators at a time, each with the rank's threads"));
  if (!wanted)
    env.push_back(facts.gpus ? task("HPCML_DATALOADER_WORKERS", std::min(k_most_workers, threads - 1),
                                    threads - 1 > k_most_workers
                                        ? fmt::format("one {} each, at most 16", each)
                                        : fmt::format("one for each {} but that of the rank itself", each))
                             : task("HPCML_DATALOADER_WORKERS", 0, "the rank computes on all of its cores"));
  return env;
}

} // namespace hpcml::plan
