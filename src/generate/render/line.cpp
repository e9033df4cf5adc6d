// SPDX-License-Identifier: MIT
#include "generate/render/line.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "generate/render/directive.hpp"

namespace hpcml::render {

namespace {

std::string to_text(const Directive& line) {
  if (const auto good = check_directive_name(line.name); !good) throw std::logic_error(good.error().what);
  if (!line.value) return "#SBATCH " + line.name;
  const auto value = escape_directive_value(*line.value, line.name);
  // find_unwritable() has refused such a plan before; writing half of a header is worse than stopping.
  if (!value) throw std::logic_error(value.error().what);
  const std::string_view between = line.name.starts_with("--") ? "=" : " ";
  return fmt::format("#SBATCH {}{}{}", line.name, between, *value);
}

std::string assignment(const Export& line) {
  if (line.is_shell) return line.name + "=" + line.value;
  if (!line.expression) return line.name + "=" + quote_word(line.value);
  return line.name + "=" +
         (line.name.ends_with("PATH") ? quote_search_path(line.value) : quote_expression(line.value));
}

bool comes_from_user(const Export& line) {
  return std::any_of(line.reasons.begin(), line.reasons.end(), [](const LineReason& reason) {
    return reason.origin.kind != model::OriginKind::site && reason.origin.kind != model::OriginKind::rule;
  });
}

std::string to_text(const Export& line) { return "export " + assignment(line); }

std::string to_text(const ModuleLine& line) {
  return fmt::format("module {} {}", line.is_path ? "use" : "load", quote_word(line.name));
}

std::string to_text(const CommandLine& line) { return wrap_words(line.words); }

/// Each group starts a line, or continues that of the one before it if both fit; what starts the tasks is on
/// its own.
std::string to_text(const JobStepLine& line) {
  constexpr std::size_t k_columns = 108; // with " \\" at the end
  std::string text;
  ScriptWords open; // of the last line
  const auto fits = [&](const ScriptWords& more) {
    const auto joined = join_words(open) + " " + join_words(more);
    return joined.find('\n') == std::string::npos && 2 + joined.size() <= k_columns;
  };
  const auto add_open = [&](std::size_t after) {
    text += text.empty() ? wrap_words(open, 0, "  ", after) : " \\\n  " + wrap_words(open, 2, "  ", after);
  };
  for (std::size_t i = 0; i < line.groups.size(); ++i) {
    const auto& group = line.groups[i];
    // A word alone, as "shifter", is not worth a line.
    if (i >= 2 && (open.size() == 1 || fits(group))) {
      open.insert(open.end(), group.begin(), group.end());
      continue;
    }
    if (!open.empty()) add_open(std::string_view(" \\").size());
    open = group;
  }
  add_open(0);
  return text;
}

std::string to_text(const Comment& line) { return line.text.empty() ? "#" : "# " + comment_text(line.text); }
std::string to_text(const Verbatim& line) { return line.text; }

} // namespace

std::string render_line(const ScriptLine& line) {
  return std::visit([](const auto& typed) { return to_text(typed); }, line);
}

const Reasons& reasons_of(const ScriptLine& line) {
  return std::visit([](const auto& typed) -> const Reasons& { return typed.reasons; }, line);
}

namespace {

/// Variables that one `export` sets.
struct ExportLine {
  bool is_users = false;
  std::size_t width = std::string_view("export").size();
  std::vector<const Export*> exports;
};

bool reads(const Export& line, const std::string& name) {
  return (line.expression || line.is_shell) && line.value.find(name) != std::string::npos;
}

bool reads_any(const Export& line, const std::vector<const Export*>& exports) {
  return std::any_of(exports.begin(), exports.end(),
                     [&](const Export* set) { return reads(line, set->name); });
}

/// The first line that the variable may be on: the shell expands all words of a line before it sets any of
/// the line's variables, and no variable may pass one that reads it, or that it reads.
std::size_t first_line(const std::vector<ExportLine>& lines, const Export& variable, bool is_users) {
  std::size_t first = lines.size();
  while (first > 0) {
    const auto& line = lines[first - 1];
    const bool is_read = std::any_of(line.exports.begin(), line.exports.end(), [&](const Export* set) {
      return reads(*set, variable.name) || set->name == variable.name;
    });
    if (line.is_users != is_users || is_read || reads_any(variable, line.exports)) break;
    --first;
  }
  return first;
}

CommandLine command_of(const ExportLine& line) {
  CommandLine command{literals({"export"}), {}};
  for (const auto* variable : line.exports) {
    command.words.push_back(ScriptWord::expression(assignment(*variable)));
    for (const auto& reason : variable->reasons) command.reasons.push_back({variable->name, reason.origin});
  }
  return command;
}

} // namespace

ScriptLines pack_exports(const std::vector<Export>& exports) {
  constexpr std::size_t k_columns = 110;
  std::vector<ExportLine> lines;
  for (const auto& variable : exports) {
    const auto width = 1 + assignment(variable).size();
    const bool is_users = comes_from_user(variable);
    auto at = first_line(lines, variable, is_users);
    while (at < lines.size() && lines[at].width + width > k_columns) ++at;
    if (at == lines.size()) lines.push_back({is_users, std::string_view("export").size(), {}});
    lines[at].width += width;
    lines[at].exports.push_back(&variable);
  }
  ScriptLines commands;
  for (const auto& line : lines) commands.push_back(command_of(line));
  return commands;
}

Reasons by_rule(std::string rule) {
  return {{"", model::Origin{model::OriginKind::rule, std::move(rule), {}, {}, {}}}};
}

} // namespace hpcml::render
