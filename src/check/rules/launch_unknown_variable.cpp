// SPDX-License-Identifier: MIT
// Variables that look like settings of NCCL, and that nothing reads.
#include <fmt/format.h>

#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_unknown_variable {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& seen :
       seen_variables(subject, {"NCCL_TIMEOUT", "NCCL_SOCKET_TIMEOUT", "TORCH_NCCL_TIMEOUT"}))
    add_match(hits, {seen.set_at, fmt::format("neither NCCL nor PyTorch reads {}", seen.name),
                     "set the timeout in the program: init_process_group(timeout=...)"});
  return hits;
}

} // namespace launch_unknown_variable

Rule rule_launch_unknown_variable() {
  using namespace launch_unknown_variable;
  return {
      .id = "launch/unknown-variable",
      .severity = diag::Severity::note,
      .title = "Variable that NCCL does not have",
      .why = "NCCL_TIMEOUT is set in many scripts against the watchdog's timeout. NCCL has no such variable, "
             "and PyTorch takes the timeout from init_process_group alone: the training still ends after "
             "10 minutes.",
      .link = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
      .bad = {R"(#!/bin/bash
export NCCL_TIMEOUT=7200
srun python train.py
)"},
      .good = {R"(#!/bin/bash
export NCCL_IB_TIMEOUT=22
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
