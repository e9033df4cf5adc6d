// SPDX-License-Identifier: MIT
// $0 and BASH_SOURCE, which in a batch script are Slurm's copy of it.
#include <algorithm>
#include <optional>

#include "check/launch_facts.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_script_directory {

/// True if a line that does more than print has a default for the job's ID: the script also runs without
/// sbatch, and decides by it.
bool has_default_id(std::string_view text) {
  constexpr std::string_view k_default = "SLURM_JOB_ID:-";
  for (auto at = text.find(k_default); at != std::string_view::npos; at = text.find(k_default, at + 1)) {
    const auto place = line_at(text, at);
    const auto line = util::trim(text.substr(place.offset, place.length));
    if (!line.starts_with("echo ") && !line.starts_with("printf ") && !line.starts_with('#')) return true;
  }
  return false;
}

/// Whether the script knows where it is copied to, or is also run without sbatch.
bool is_prepared(std::string_view text) {
  for (const std::string_view sign :
       {"SLURM_SUBMIT_DIR", "scontrol show job", "-n \"$SLURM_JOB", "-z \"$SLURM_JOB", "-n \"${SLURM_JOB",
        "-z \"${SLURM_JOB", "slurm_script", "/spool"})
    if (text.find(sign) != std::string_view::npos) return true;
  return has_default_id(text);
}

/// Whether the line takes a directory from the script's own path.
bool takes_directory(std::string_view line) {
  for (const std::string_view sign : {"dirname", "realpath", "readlink", "%/*"})
    if (line.find(sign) != std::string_view::npos) return true;
  return false;
}

/// Whether the line does anything with the directory: sets a variable that the script reads, or is a command.
/// A default for a variable that comes from outside does not count.
bool uses_directory(std::string_view text, std::string_view line) {
  if (line.find(":-") != std::string_view::npos || line.find(":=") != std::string_view::npos) return false;
  const auto begin = line.starts_with("export ") ? line.find_first_not_of(' ', 7) : 0;
  const auto name = line.substr(begin, line.find('=', begin) - begin);
  if (!util::is_variable_name(name)) return true;
  return reads(text, name);
}

/// The first place at which the script takes a directory from its own path and uses it.
std::optional<diag::TextRange> find_use(const LintContext& subject) {
  for (const std::string_view name : {"$0", "${0", "BASH_SOURCE"})
    for (auto at = subject.text.find(name, subject.header.end); at != std::string_view::npos;
         at = subject.text.find(name, at + 1)) {
      const auto line = line_at(subject.text, at);
      const auto whole = util::trim(subject.text.substr(line.offset, line.length));
      if (whole.starts_with("#") || whole.starts_with("echo ") || whole.starts_with("printf ") ||
          !takes_directory(whole) || !uses_directory(subject.text, whole) || subject.is_in_text(at))
        continue;
      return diag::TextRange{at, name.size()};
    }
  return std::nullopt;
}

RuleMatches find(const LintContext& subject) {
  if (subject.header.directives.empty() || !is_shell_script(subject.text)) return {};
  const auto place = find_use(subject);
  const auto submits = [](const shell::Command& command) { return command.name() == "sbatch"; };
  if (!place || is_prepared(subject.text) ||
      std::any_of(subject.listing.commands.begin(), subject.listing.commands.end(), submits))
    return {};
  return {{*place,
           "in a job this is Slurm's copy of the script in its spool directory, not where the script is",
           "use $SLURM_SUBMIT_DIR, the directory in which sbatch was called, or a full path"}};
}

} // namespace slurm_script_directory

Rule rule_slurm_script_directory() {
  using namespace slurm_script_directory;
  return {
      .id = "slurm/script-directory",
      .severity = diag::Severity::warning,
      .title = "Directory of the script's copy",
      .why = "slurmd runs a copy of the batch script from its own spool directory. dirname \"$0\" and "
             "${BASH_SOURCE[0]} name that directory on the node, in which no other file of yours is.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1
cd $(dirname $0)
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1
cd "$SLURM_SUBMIT_DIR"
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
