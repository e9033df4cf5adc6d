// SPDX-License-Identifier: MIT
// Lines that look like directives and are comments.
#include <algorithm>

#include "check/rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace slurm_disabled_directive {

/// The command goes on, or ends in a script's name.
bool names_script(std::string_view line) {
  const auto end = line.find_last_not_of(" \t\r");
  const auto last = line.substr(0, end + 1);
  if (last.back() == '\\') return true;
  const auto name = last.substr(last.find_last_of(" \t") + 1);
  return name[0] != '-' && (util::ends_with(name, ".sh") || util::ends_with(name, ".slurm") ||
                            util::ends_with(name, ".sbatch"));
}

/// "# SBATCH --x", " #SBATCH --x", "#sbatch --x"; "##SBATCH" is how people switch one off on purpose. "#
/// sbatch --x" and "#sbatch -N2 job.sh" say how the script is submitted.
bool looks_like_directive(std::string_view line) {
  if (line.substr(0, 7) == "#SBATCH") return false;
  const auto hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') return false;
  const auto word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string_view::npos || util::to_lower(line.substr(word, 6)) != "sbatch") return false;
  if (line[word] == 's' && (word > hash + 1 || names_script(line))) return false;
  const auto option = line.find_first_not_of(" \t", word + 6);
  return option != std::string_view::npos && line[option] == '-';
}

Hits find(const Subject& subject) {
  Hits hits;
  for (std::size_t at = 0; at < subject.header.end;) {
    const auto end = std::min(subject.text.find('\n', at), subject.text.size());
    const auto line = subject.text.substr(at, end - at);
    if (looks_like_directive(line))
      hits.push_back(
          {{at, line.size()},
           "this is a comment to sbatch, no directive",
           "write #SBATCH at the start of the line, in capitals; ##SBATCH says that it is off on purpose"});
    at = end + 1;
  }
  return hits;
}

} // namespace slurm_disabled_directive

Rule rule_slurm_disabled_directive() {
  using namespace slurm_disabled_directive;
  return {"slurm/disabled-directive",
          diag::Severity::warning,
          "A directive that is a comment",
          "Only #SBATCH in capitals at the very start of a line counts. With a blank before or inside it, or "
          "in lower case, "
          "the line is ignored without a word.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
          {"#!/bin/bash\n# SBATCH --nodes=2\n", "#!/bin/bash\n #SBATCH --nodes=2\n",
           "#!/bin/bash\n#sbatch --nodes=2\n"},
          {"#!/bin/bash\n#SBATCH --nodes=2\n", "#!/bin/bash\n##SBATCH --nodes=2\n",
           "#!/bin/bash\n# sbatch this file with -N 2\n",
           "#!/bin/bash\n# Usage:\n#   sbatch --nodes=4 train.sh\n# sbatch -A account -t time \\\n#   "
           "train.sh\n#sbatch -N 2 train.sh\n"},
          find};
}

} // namespace hpcml::check
