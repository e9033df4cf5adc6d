// SPDX-License-Identifier: MIT
// Directives that sbatch never reads, because a command stands before them.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_after_command {

bool is_directive(std::string_view line) {
  const auto first = line.find_first_not_of(" \t", 7);
  return line.starts_with("#SBATCH") && first != std::string_view::npos && line[first] == '-';
}

Hits find(const Subject& subject) {
  Hits hits;
  // What only writes job scripts in another language is none itself.
  if (!is_shell_script(subject.text) && subject.header.directives.empty()) return hits;
  for (std::size_t at = subject.header.end; at < subject.text.size();) {
    const auto end = std::min(subject.text.find('\n', at), subject.text.size());
    // In a here-document or a quoted text it is part of another script.
    if (const auto line = subject.text.substr(at, end - at); is_directive(line) && !subject.is_in_text(at))
      hits.push_back({{at, line.size()},
                      "sbatch stops reading at the first command: this directive has no effect",
                      "move it above the first command"});
    at = end + 1;
  }
  return hits;
}

} // namespace slurm_after_command

Rule rule_slurm_after_command() {
  using namespace slurm_after_command;
  return {
      "slurm/after-command",
      diag::Severity::warning,
      "A directive behind the first command",
      "sbatch stops at the first line that is neither blank nor a comment and drops later directives "
      "without a word: the job "
      "runs with default nodes, time and memory.",
      "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      {"#!/bin/bash\nset -e\n#SBATCH --nodes=2\n",
       "#!/bin/bash\n#SBATCH -N2\nmodule load x\n#SBATCH --time=10\nsrun true\n",
       "#!/bin/bash\n: note\n#SBATCH--nodes=2\n", "#!/bin/bash\ncat <<EOF\nEOF\n#SBATCH --nodes=2\n",
       "#!/bin/bash\necho $((1<<4))\n#SBATCH --nodes=2\n"},
      {"#!/bin/bash\n#SBATCH --nodes=2\nset -e\n", "#!/bin/bash\n\n# comment\n#SBATCH --nodes=2\nsrun true\n",
       "#!/bin/bash\nsrun true\n# SBATCH is read above\n",
       "#!/bin/bash\n#SBATCH -N2\nsrun true\n#SBATCH WARNING: 2 warnings were found.\n",
       "#!/bin/bash\nsbatch <<'EOF'\n#!/bin/bash\n#SBATCH --nodes=2\nEOF\n",
       "#!/bin/bash\n: <<++++\n#SBATCH --nodes=2\n++++\nsrun true\n",
       "#!/bin/bash\ncat > a.sh << 'end of the script'\n#SBATCH --nodes=2\nend of the script\nsbatch a.sh\n",
       "#!/bin/bash\ncat <<-!\n#SBATCH -N2\n\t!\nfor i in 1 2; do cat <<$i; done\n#SBATCH -N2\n$i\n",
       "#!/usr/bin/env expect\nmake_script $file \"\n#SBATCH --nodes=2\n\"\n",
       "#!/bin/bash\necho \"#!/bin/bash\n#SBATCH --nodes=2\nsrun true\" | sbatch\n"},
      find};
}

} // namespace hpcml::check
