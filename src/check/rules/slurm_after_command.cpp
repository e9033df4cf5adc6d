// SPDX-License-Identifier: MIT
// Directives that sbatch never reads, because a command is before them.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_after_command {

bool is_directive(std::string_view line) {
  const auto first = line.find_first_not_of(" \t", 7);
  return line.starts_with("#SBATCH") && first != std::string_view::npos && line[first] == '-';
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  // What only writes job scripts in another language is none itself.
  if (!is_shell_script(subject.text) && subject.header.directives.empty()) return hits;
  for (std::size_t at = subject.header.end; at < subject.text.size();) {
    const auto end = std::min(subject.text.find('\n', at), subject.text.size());
    // In a here-document or a quoted text it is part of another script.
    if (const auto line = subject.text.substr(at, end - at); is_directive(line) && !subject.is_in_text(at))
      hits.push_back({{at, line.size()},
                      "sbatch stops reading at the first command, so this directive has no effect",
                      "move it above the first command"});
    at = end + 1;
  }
  return hits;
}

} // namespace slurm_after_command

Rule rule_slurm_after_command() {
  using namespace slurm_after_command;
  return {"slurm/after-command",
          diag::Severity::warning,
          "Directive after the first command",
          "sbatch stops at the first line that is neither empty nor a comment and drops later directives "
          "silently: the job runs with default nodes, time and memory.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
          {R"(#!/bin/bash
set -e
#SBATCH --nodes=2
)",
           R"(#!/bin/bash
#SBATCH -N2
module load x
#SBATCH --time=10
srun true
)",
           R"(#!/bin/bash
: note
#SBATCH--nodes=2
)",
           R"(#!/bin/bash
cat <<EOF
EOF
#SBATCH --nodes=2
)",
           R"(#!/bin/bash
echo $((1<<4))
#SBATCH --nodes=2
)"},
          {R"(#!/bin/bash
#SBATCH --nodes=2
set -e
)",
           R"(#!/bin/bash

# comment
#SBATCH --nodes=2
srun true
)",
           R"(#!/bin/bash
srun true
# SBATCH is read above
)",
           R"(#!/bin/bash
#SBATCH -N2
srun true
#SBATCH WARNING: 2 warnings were found.
)",
           R"(#!/bin/bash
sbatch <<'EOF'
#!/bin/bash
#SBATCH --nodes=2
EOF
)",
           R"(#!/bin/bash
: <<++++
#SBATCH --nodes=2
++++
srun true
)",
           R"(#!/bin/bash
cat > a.sh << 'end of the script'
#SBATCH --nodes=2
end of the script
sbatch a.sh
)",
           "#!/bin/bash\ncat <<-!\n#SBATCH -N2\n\t!\nfor i in 1 2; do cat <<$i; done\n#SBATCH -N2\n$i\n",
           R"(#!/usr/bin/env expect
make_script $file "
#SBATCH --nodes=2
"
)",
           R"(#!/bin/bash
echo "#!/bin/bash
#SBATCH --nodes=2
srun true" | sbatch
)"},
          find};
}

} // namespace hpcml::check
