// SPDX-License-Identifier: MIT
#include "generate/render/line.hpp"

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

std::string to_text(const Export& line) {
  if (!line.expression) return fmt::format("export {}={}", line.name, quote_word(line.value));
  return fmt::format("export {}={}", line.name, quote_expression(line.value));
}

std::string to_text(const Module& line) {
  return fmt::format("module {} {}", line.is_path ? "use" : "load", quote_word(line.name));
}

std::string to_text(const CommandLine& line) { return join_words(line.words); }

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

Reasons by_rule(std::string rule) {
  return {{"", model::Origin{model::OriginKind::rule, std::move(rule), {}, {}, {}}}};
}

} // namespace hpcml::render
