// SPDX-License-Identifier: MIT
// torch.distributed.launch, which torchrun has replaced.
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_old_launcher {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches)
    for (const auto& link : launch.chain)
      if (link.module == "torch.distributed.launch")
        add_match(hits, {link.place, "torch.distributed.launch is deprecated in favour of torchrun",
                         "use torchrun with the same options, and read LOCAL_RANK from the environment "
                         "instead of --local-rank"});
  return hits;
}

} // namespace launch_old_launcher

Rule rule_launch_old_launcher() {
  using namespace launch_old_launcher;
  return {
      .id = "launch/old-launcher",
      .severity = diag::Severity::note,
      .title = "torch.distributed.launch",
      .why =
          "The module is deprecated. It hands --local-rank to the program (--local_rank before 2.0), which "
          "breaks argument parsers when torch is updated.",
      .link = "https://docs.pytorch.org/docs/stable/distributed.html#launch-utility",
      .bad = {R"(#!/bin/bash
python -m torch.distributed.launch --nproc_per_node=4 train.py
)"},
      .good = {R"(#!/bin/bash
torchrun --standalone --nproc_per_node=4 train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
