// SPDX-License-Identifier: MIT
// Directives that sbatch never reads, because a command stands before them.
#include "check/rule.hpp"

namespace hpcml::check {
namespace {

Hits find(const Subject& subject) {
  Hits hits;
  for (std::size_t at = subject.header.end; at < subject.text.size();) {
    const auto end = std::min(subject.text.find('\n', at), subject.text.size());
    const auto line = subject.text.substr(at, end - at);
    if (line.substr(0, 7) == "#SBATCH" && line.size() > 7 && line.find_first_not_of(" \t", 7) != std::string_view::npos)
      hits.push_back({{at, line.size()}, "sbatch stops reading at the first command: this directive has no effect",
                      "move it above the first command; in a here-document that is a script of its own, leave it"});
    at = end + 1;
  }
  return hits;
}

} // namespace

extern const Rule k_slurm_after_command;
const Rule k_slurm_after_command = {
    "slurm/after-command",
    diag::Severity::warning,
    "A directive behind the first command",
    "sbatch stops at the first line that is neither blank nor a comment and drops later directives without a word: "
    "the job runs with default nodes, time and memory.",
    "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
    {"#!/bin/bash\nset -e\n#SBATCH --nodes=2\n", "#!/bin/bash\n#SBATCH -N2\nmodule load x\n#SBATCH --time=10\nsrun true\n",
     "#!/bin/bash\n: note\n#SBATCH--nodes=2\n"},
    {"#!/bin/bash\n#SBATCH --nodes=2\nset -e\n", "#!/bin/bash\n\n# comment\n#SBATCH --nodes=2\nsrun true\n", "#!/bin/bash\nsrun true\n# SBATCH is read above\n"},
    find};

} // namespace hpcml::check
