// SPDX-License-Identifier: MIT
// Directives that sbatch never reads, because a command stands before them.
#include <algorithm>

#include "check/rule.hpp"
#include "shell/names.hpp"

namespace hpcml::check {
namespace slurm_after_command {

bool is_directive(std::string_view line) {
  return line.substr(0, 7) == "#SBATCH" && line.size() > 7 &&
         line.find_first_not_of(" \t", 7) != std::string_view::npos;
}

/// The word that ends the here-document which the line begins, and whether tabs may stand before it; empty
/// where it begins none.
std::string_view delimiter_of(std::string_view line, bool& tabs) {
  const auto sign = line.find("<<");
  if (sign == std::string_view::npos || line.substr(sign, 3) == "<<<" ||
      line.substr(0, line.find_first_not_of(" \t") + 1).find('#') != std::string_view::npos)
    return {};
  auto at = sign + 2;
  tabs = line.substr(at, 1) == "-";
  at = line.find_first_not_of("- \t'\"\\", at);
  if (at == std::string_view::npos || !shell::is_name_start(line[at])) return {};
  auto end = at;
  while (end < line.size() && (shell::is_name_char(line[end]) || line[end] == '-' || line[end] == '+')) ++end;
  return line.substr(at, end - at);
}

Hits find(const Subject& subject) {
  Hits hits;
  std::string_view delimiter;
  bool tabs = false;
  for (std::size_t at = subject.header.end; at < subject.text.size();) {
    const auto end = std::min(subject.text.find('\n', at), subject.text.size());
    auto line = subject.text.substr(at, end - at);
    if (!delimiter.empty()) { // a script of its own
      if (tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
      if (line == delimiter) delimiter = {};
    } else if (is_directive(line))
      hits.push_back({{at, line.size()},
                      "sbatch stops reading at the first command: this directive has no effect",
                      "move it above the first command"});
    else
      delimiter = delimiter_of(line, tabs);
    at = end + 1;
  }
  return hits;
}

} // namespace slurm_after_command

Rule rule_slurm_after_command() {
  using namespace slurm_after_command;
  return {"slurm/after-command",
          diag::Severity::warning,
          "A directive behind the first command",
          "sbatch stops at the first line that is neither blank nor a comment and drops later directives "
          "without a word: the job "
          "runs with default nodes, time and memory.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
          {"#!/bin/bash\nset -e\n#SBATCH --nodes=2\n",
           "#!/bin/bash\n#SBATCH -N2\nmodule load x\n#SBATCH --time=10\nsrun true\n",
           "#!/bin/bash\n: note\n#SBATCH--nodes=2\n", "#!/bin/bash\ncat <<EOF\nEOF\n#SBATCH --nodes=2\n"},
          {"#!/bin/bash\n#SBATCH --nodes=2\nset -e\n",
           "#!/bin/bash\n\n# comment\n#SBATCH --nodes=2\nsrun true\n",
           "#!/bin/bash\nsrun true\n# SBATCH is read above\n",
           "#!/bin/bash\nsbatch <<'EOF'\n#!/bin/bash\n#SBATCH --nodes=2\nEOF\n"},
          find};
}

} // namespace hpcml::check
