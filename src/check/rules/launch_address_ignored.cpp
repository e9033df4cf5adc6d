// SPDX-License-Identifier: MIT
// Options of torchrun that its rendezvous backend does not read.
#include <fmt/format.h>

#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_address_ignored {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    if (!agent || agent->program != "torchrun") continue;
    const auto* backend = find_any(*agent, {"rdzv_backend", "rdzv-backend"});
    const auto* address = find_any(*agent, {"master_addr", "master-addr"});
    if (!backend || !address || !backend->value || !backend->value->known() ||
        (backend->value->text() != "c10d" && backend->value->text() != "etcd"))
      continue;
    add_match(hits, {address->place,
                     fmt::format("torchrun ignores --master_addr with the rendezvous backend {}: it uses "
                                 "--rdzv_endpoint",
                                 backend->value->text()),
                     find_any(*agent, {"rdzv_endpoint", "rdzv-endpoint"})
                         ? "remove --master_addr and --master_port"
                         : "use --rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT instead"});
  }
  return hits;
}

} // namespace launch_address_ignored

Rule rule_launch_address_ignored() {
  using namespace launch_address_ignored;
  return {
      .id = "launch/address-ignored",
      .severity = diag::Severity::note,
      .title = "--master_addr with another rendezvous backend",
      .why = "torchrun reads --master_addr and --master_port for the static rendezvous only. With c10d the "
             "nodes connect to --rdzv_endpoint: a change of the other two has no effect, and without an "
             "endpoint each node waits at itself.",
      .link = "https://docs.pytorch.org/docs/stable/elastic/run.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P --master_addr=$H train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
