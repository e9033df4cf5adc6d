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
  const auto value = escape_directive_value(*line.value);
  // find_unwritable() has refused such a plan before; writing half of a header is worse than stopping.
  if (!value) throw std::logic_error(line.name + ": " + value.error().what);
  const std::string_view between = line.name.starts_with("--") ? "=" : " ";
  return fmt::format("#SBATCH {}{}{}", line.name, between, *value);
}

std::string assignment(const Export& line) {
  return line.name + "=" + (line.expression ? quote_expression(line.value) : quote_word(line.value));
}

bool comes_from_user(const Export& line) {
  return std::any_of(line.reasons.begin(), line.reasons.end(), [](const Reason& reason) {
    return reason.origin.kind != model::OriginKind::site && reason.origin.kind != model::OriginKind::rule;
  });
}

std::string to_text(const Export& line) { return "export " + assignment(line); }

std::string to_text(const Module& line) {
  return fmt::format("module {} {}", line.is_path ? "use" : "load", quote_word(line.name));
}

std::string to_text(const CommandLine& line) { return wrap_words(line.words); }

std::string to_text(const Step& line) {
  std::string text;
  for (const auto& group : line.groups)
    text += text.empty() ? wrap_words(group) : " \\\n  " + wrap_words(group, 2);
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

ScriptLines pack_exports(const std::vector<Export>& exports) {
  constexpr std::size_t k_columns = 110;
  ScriptLines lines;
  bool last_is_users = false;
  std::size_t width = 0;
  std::vector<std::string> names;
  // The shell expands all words of a line before it sets any of the line's variables.
  const auto reads_line = [&](const Export& line) {
    return line.expression && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
             return line.value.find(name) != std::string::npos;
           });
  };
  for (const auto& line : exports) {
    const auto word = assignment(line);
    const bool is_users = comes_from_user(line);
    if (lines.empty() || is_users != last_is_users || width + 1 + word.size() > k_columns ||
        reads_line(line)) {
      lines.push_back(CommandLine{literals({"export"}), {}});
      width = std::string_view("export").size();
      last_is_users = is_users;
      names.clear();
    }
    names.push_back(line.name);
    auto& last = std::get<CommandLine>(lines.back());
    last.words.push_back(ScriptWord::expression(word));
    width += 1 + word.size();
    for (const auto& reason : line.reasons) last.reasons.push_back({line.name, reason.origin});
  }
  return lines;
}

Reasons by_rule(std::string rule) {
  return {{"", model::Origin{model::OriginKind::rule, std::move(rule), {}, {}, {}}}};
}

} // namespace hpcml::render
