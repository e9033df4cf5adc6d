// SPDX-License-Identifier: MIT
// Line ends as on Windows.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_dos_line {

/// All of them: one is enough for sbatch to refuse the script.
std::vector<Edit> fix(const LintContext& subject, diag::TextRange) {
  std::vector<Edit> edits;
  for (auto at = subject.text.find("\r\n"); at != std::string_view::npos;
       at = subject.text.find("\r\n", at + 2))
    edits.push_back({at, 1, ""});
  return edits;
}

} // namespace slurm_dos_line

Rule rule_slurm_dos_line() {
  using namespace slurm_dos_line;
  return {
      .id = "slurm/dos-line",
      .severity = diag::Severity::error,
      .title = "Windows line endings",
      .why =
          "sbatch refuses a script in which even one line ends with CR LF: \"Batch script contains DOS line "
          "breaks\". Editors and file transfers from Windows produce them.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {"#!/bin/bash\r\n#SBATCH --nodes=2\r\nsrun true\r\n"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
srun true
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
