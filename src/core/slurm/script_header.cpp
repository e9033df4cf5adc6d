// SPDX-License-Identifier: MIT
#include "core/slurm/script_header.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void check_file(string_view text, LocatedFindings& findings) {
  if (text.empty())
    findings.error({}, "slurm/empty", "the job script is empty, so sbatch rejects it",
                   "add #!/bin/bash as the first line, and the commands of the job");
  else if (std::all_of(text.begin(), text.end(), is_space))
    findings.error({}, "slurm/empty", "the job script contains only whitespace, so sbatch rejects it",
                   "add #!/bin/bash as the first line, and the commands of the job");
  else if (!text.starts_with("#!"))
    findings.error({0, std::max<std::size_t>(1, std::min(text.find('\n'), text.size()))}, "slurm/first-line",
                   "the first line does not start with #!: sbatch rejects the script",
                   text.starts_with("\xef\xbb\xbf")
                       ? "remove the byte order mark at the start of the file (save it as UTF-8 without one)"
                       : "use #!/bin/bash as the first line, with nothing before it");
  if (const auto dos = text.find("\r\n"); dos != string_view::npos)
    findings.error({dos, 1}, "slurm/dos-line",
                   "a line ends with CR LF, as on Windows: sbatch rejects the script",
                   "run sed -i 's/\\r$//' FILE to convert the file");
  if (const auto nul = text.find('\0'); nul != string_view::npos)
    findings.error({nul, 1}, "slurm/nul", "the script contains a NUL character: Slurm rejects it",
                   "remove it with tr -d '\\0' < FILE > NEW_FILE");
}

/// Cuts one directive line into words.
class WordReader {
public:
  WordReader(string_view text, std::size_t from, std::size_t to, ComparisonTrackingVersion version,
             LocatedFindings& findings)
      : x_text(text), x_at(from), x_end(to), x_version(version), x_findings(findings) {}

  std::vector<HeaderWord> read() {
    std::vector<HeaderWord> words;
    // An empty word ("") ends the line as well: sbatch cannot distinguish it from the end.
    while (next() && !x_word.text.empty()) words.push_back(x_word);
    return words;
  }

private:
  bool next() {
    while (x_at < x_end && is_space(x_text[x_at])) ++x_at;
    if (x_at == x_end || x_text[x_at] == '#') return false;
    if (x_text[x_at] == ':') {
      x_findings.error({x_at, 1}, "slurm/colon",
                       "a word of a directive starts with ':': sbatch rejects the script",
                       "use the option without it, or a line #SBATCH hetjob to separate components of a job");
      return false;
    }
    const std::size_t start = x_at;
    x_word = {};
    if (!read_word()) return false;
    x_word.place = {start, x_at - start};
    return true;
  }

  bool read_word() {
    char quote = '\0';
    bool escaped = false;
    std::size_t quoted_at = 0;
    for (; x_at < x_end; ++x_at) {
      const char c = x_text[x_at];
      // Up to 23.11 an escaped space ends the word as any other.
      if (is_space(c) && quote == '\0' && !(escaped && x_version >= Version::v24_05)) break;
      if (escaped) {
        escaped = false;
        x_word.text += c;
      } else if (c == '\\')
        escaped = true;
      else if (quote != '\0' && c == quote)
        quote = '\0';
      else if (quote == '\0' && (c == '"' || c == '\'')) {
        quote = c;
        quoted_at = x_at;
      } else if (quote == '\0' && c == '#') {
        report_comment();
        break;
      } else
        x_word.text += c;
    }
    if (quote == '\0') return true;
    x_findings.error({quoted_at, 1}, "slurm/quote",
                     fmt::format("the quote {} is not closed on its line: sbatch rejects the script", quote),
                     "add the closing quote, or a backslash before this one");
    return false;
  }

  void report_comment() {
    const bool inside = x_at > 0 && !is_space(x_text[x_at - 1]);
    if (inside)
      x_findings.warning({x_at, 1}, "slurm/comment-in-word",
                         "'#' starts a comment even inside a word: the rest of the line is ignored",
                         "add quotes around the value, or a space before the comment");
    x_end = x_at;
  }

  string_view x_text;
  std::size_t x_at;
  std::size_t x_end;
  ComparisonTrackingVersion x_version;
  LocatedFindings& x_findings;
  HeaderWord x_word;
};

struct Prefix {
  string_view text;
  DirectivePrefix magic;
};
constexpr Prefix k_prefixes[] = {{"#SBATCH", DirectivePrefix::sbatch},
                                 {"#SLURM", DirectivePrefix::sbatch},
                                 {"#PBS", DirectivePrefix::pbs},
                                 {"#BSUB", DirectivePrefix::bsub}};

bool is_command(string_view line) {
  const auto first = std::find_if_not(line.begin(), line.end(), is_space);
  return first != line.end() && *first != '#';
}

bool is_separator(const HeaderWord& word) {
  const auto lower = util::to_lower(word.text);
  return lower == "hetjob" || lower == "packjob";
}

/// Adds the line's words. A separator that comes first starts the next component, and the rest of its line is
/// ignored; a later one is dropped silently.
void add_directive(ScriptHeader& header, HeaderLine directive, LocatedFindings& findings) {
  directive.component = header.components - 1;
  auto& words = directive.words;
  if (directive.magic == DirectivePrefix::sbatch && !words.empty() && is_separator(words.front())) {
    if (util::to_lower(words.front().text) == "packjob")
      findings.warning(words.front().place, "slurm/packjob",
                       "'#SBATCH packjob' is the old name of '#SBATCH hetjob'", "use #SBATCH hetjob");
    ++header.components;
    return;
  }
  const auto stray = std::find_if(words.begin(), words.end(), is_separator);
  if (directive.magic == DirectivePrefix::sbatch && stray != words.end()) {
    findings.warning(stray->place, "slurm/hetjob",
                     "'hetjob' after an option has no effect: the line starts no new job component",
                     "use #SBATCH hetjob on a separate line");
    words.erase(std::remove_if(words.begin(), words.end(), is_separator), words.end());
  }
  if (!directive.words.empty()) header.directives.push_back(std::move(directive));
}

} // namespace

ScriptHeader read_header(string_view text, ComparisonTrackingVersion version, LocatedFindings& findings) {
  constexpr unsigned k_most_plain_lines = 100; // that sbatch reads for the other systems' lines
  check_file(text, findings);
  ScriptHeader header;
  std::optional<std::size_t> command;
  unsigned plain_lines = 0;
  // The other systems' lines are sought after the first command as well, as long as there are not too many
  // lines of code.
  for (std::size_t start = 0; start < text.size() && (!command || plain_lines <= k_most_plain_lines);) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const auto line = text.substr(start, end - start);
    const auto* prefix = std::find_if(std::begin(k_prefixes), std::end(k_prefixes), [&](const Prefix& p) {
      return !line.empty() && line.front() == '#' && line.starts_with(p.text);
    });
    const bool is_searched =
        prefix != std::end(k_prefixes) &&
        (prefix->magic == DirectivePrefix::sbatch ? !command : plain_lines <= k_most_plain_lines);
    if (is_searched) {
      if (prefix->text == "#SLURM")
        findings.warning({start, prefix->text.size()}, "slurm/prefix", "#SLURM is an old form of #SBATCH",
                         "use #SBATCH in place of #SLURM");
      WordReader reader(text, start + prefix->text.size(), end, version, findings);
      add_directive(header, {prefix->magic, 0, reader.read()}, findings);
    } else if (!command && is_command(line)) {
      command = start;
    }
    plain_lines += line.empty() || line.front() != '#' ? 1 : 0;
    start = end + 1;
  }
  header.end = command.value_or(text.size());
  return header;
}

} // namespace hpcml::slurm
