// SPDX-License-Identifier: MIT
// A tilde in a directive's path, which is not expanded.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_tilde_in_directive {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& request : subject.requests)
    for (const std::string_view option : {"output", "error", "input", "chdir"})
      if (const auto path = request.text(option);
          path.size() > 1 && path[0] == '~' && request.place(option).length > 0)
        hits.push_back({request.place(option),
                        "'~' is not expanded in a directive, so this is a directory of that name",
                        "use the full path, or one relative to the directory that you submit from"});
  return hits;
}

} // namespace slurm_tilde_in_directive

Rule rule_slurm_tilde_in_directive() {
  using namespace slurm_tilde_in_directive;
  return {
      .id = "slurm/tilde-in-directive",
      .severity = diag::Severity::warning,
      .title = "Tilde in a directive",
      .why =
          "Directives are comments to the shell and ~ has no meaning for Slurm: --output=~/x.log asks for a "
          "directory named ~ below the working directory, which does not exist, and the job fails without a "
          "log.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_%3CB%3Efilename-pattern%3C/B%3E",
      .bad = {R"(#!/bin/bash
#SBATCH --output=~/x.log
)"},
      .good = {R"(#!/bin/bash
#SBATCH --output=x~.log
)"},
      .find = find,
  };
}

} // namespace hpcml::check
