// SPDX-License-Identifier: MIT
// What rules look at: one batch script as sbatch and bash read it, and the site that it is meant for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/launch_chain/launches.hpp"
#include "core/model/site.hpp"
#include "core/shell/script_commands.hpp"
#include "core/site_rules/policy_violation.hpp"
#include "core/slurm/job_reading.hpp"

namespace hpcml::check {

using launch_chain::find_launches;
using launch_chain::GivenOption;
using launch_chain::Launch;
using launch_chain::Link;
using launch_chain::Role;

/// The text of a file that a script names; nothing where it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& name)>;

/// All parts speak of the same text; places are bytes of it. The job is the one that sbatch reads.
struct LintContext : slurm::ScriptAsRead {
  std::string_view text;
  slurm::Version version = slurm::k_newest_version;
  bool version_known = false;                   ///< false: no version was requested; `version` is the newest
  shell::ScriptCommands listing = {};           ///< the commands, in the order in which bash comes to them
  std::vector<shell::UnparsedText> unread = {}; ///< where bash itself would stop with a syntax error
  std::vector<diag::TextRange> texts = {};      ///< here-documents and words of several lines, in order
  std::vector<Launch> launches = {};            ///< one per command of `listing` that may run
  std::vector<std::string_view> names = {};     ///< in the text that may be variables': NCCL_DEBUG; sorted
  const model::Site* site = nullptr;            ///< none: no site is named
  std::vector<site_rules::ResourceRequest> demands = {};     ///< of the requests; empty without a site
  std::vector<site_rules::PolicyViolations> violations = {}; ///< what the site has against each of them
  std::vector<site_rules::ResolvedPlacement> fits = {}; ///< where each of them lands; empty without a site
  ReadFile read_file = {};                              ///< may be unset

  /// Whether it may be read by a Slurm of this range ("22.05-23.02", as is_in_range has it): true where the
  /// version is unknown.
  bool may_be(std::string_view range) const { return !version_known || slurm::is_in_range(range, version); }
  /// Whether the byte is in a here-document or in a word of several lines: no comment begins there.
  bool is_in_text(std::size_t offset) const;
  /// The last setting of an option in the directives of the job's first component that has it; nothing where
  /// none has.
  const slurm::OptionSetting* directive(std::string_view option) const;
  /// Whether the job asks for several nodes; nothing if its size is unknown.
  std::optional<bool> several_nodes() const;
};

/// Returns the line that names the interpreter: the first one with #! among the comments and empty lines at
/// the beginning, else the first line. Its place is reported by slurm/first-line.
std::string_view shebang_line(std::string_view text);
/// Whether bash or another Bourne shell runs the script: by its first line, or where that names nothing.
bool is_shell_script(std::string_view text);
/// True if the text has gaps of a template: "<nodes>", "gpu:{n}"; not "${N}".
bool has_gap(std::string_view text);
/// "<options>" in the text from there on, up to the end of the line; nothing where it is something else.
std::optional<diag::TextRange> gap_at(std::string_view text, std::size_t offset);
/// True if the line has marks of a template engine: "{{ nodes }}", "{% if x %}".
bool has_template_mark(std::string_view line);
/// The whole line (without its end) that the byte is in.
diag::TextRange line_at(std::string_view text, std::size_t offset);
/// True if a comment begins before the byte on its line.
bool is_in_comment(std::string_view text, std::size_t offset);
/// Returns the line up to the offset, at most 4 KiB of it: a script with one long line takes linear time.
std::string_view line_before(std::string_view text, std::size_t offset);
/// True if the text has the name at the place only, comments aside.
bool is_only_mention(std::string_view text, std::string_view name, std::size_t place);
/// Where the line after that of the byte begins; the size of the text after its last line.
std::size_t next_line(std::string_view text, std::size_t offset);

} // namespace hpcml::check
