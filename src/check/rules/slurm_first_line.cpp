// SPDX-License-Identifier: MIT
// A first line that names no interpreter.
#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_first_line {

constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";

/// Takes away what is before the #!, or adds the line where the script begins with its directives.
std::vector<Edit> fix(const LintContext& subject, diag::TextRange) {
  const auto text = subject.text;
  if (text.starts_with(k_byte_order_mark) && text.substr(k_byte_order_mark.size(), 2) == "#!")
    return {{0, k_byte_order_mark.size(), ""}};
  if (text.starts_with("!#/")) return {{0, 2, "#!"}};
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  if (first > 0 && text.substr(first, 2) == "#!") return {{0, first, ""}};
  if (text.starts_with("#SBATCH"))
    return {{0, 0, R"(#!/bin/bash
)"}};
  return {};
}

} // namespace slurm_first_line

Rule rule_slurm_first_line() {
  using namespace slurm_first_line;
  return {
      .id = "slurm/first-line",
      .severity = diag::Severity::error,
      .title = "First line without #!",
      .why =
          "sbatch looks at the first two bytes and refuses what is not #!: \"This does not look like a batch "
          "script\". An empty line, a comment or the byte order mark of an editor before it is enough.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(
#!/bin/bash
#SBATCH --nodes=2
srun true
)"},
      .good = {R"(#!/bin/bash
srun true
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
