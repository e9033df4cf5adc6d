// SPDX-License-Identifier: MIT
#include "check/subject.hpp"

#include <algorithm>
#include <cctype>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {

const slurm::OptionSetting* LintContext::directive(std::string_view option) const {
  for (const auto& request : requests)
    if (const auto found = request.settings.find(option); found != request.settings.end())
      return &found->second;
  return nullptr;
}

bool LintContext::is_in_text(std::size_t offset) const {
  return std::any_of(texts.begin(), texts.end(), [&](diag::TextRange place) {
    return offset >= place.offset && offset < place.offset + place.length;
  });
}

std::optional<bool> LintContext::several_nodes() const {
  if (requests.size() > 1) return true;
  if (sizes.empty() || !sizes[0].nodes_given) return std::nullopt;
  return sizes[0].min_nodes > 1;
}

std::string_view shebang_line(std::string_view text) {
  const auto first = text.substr(0, text.find('\n'));
  for (std::size_t at = 0; at < text.size();) {
    const auto line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with("#!")) return line;
    if (!line.starts_with('#') && !util::trim(line).empty()) break;
    at += line.size() + 1;
  }
  return first;
}

bool is_shell_script(std::string_view text) {
  if (!text.starts_with("#!")) return true;
  auto line = util::trim(text.substr(2, text.find('\n') - 2));
  std::string program;
  // "/usr/bin/env -S bash -l": the first word that is not an option and not env itself.
  while (!line.empty()) {
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    const auto word = line.substr(0, end);
    program = util::base_name(word);
    if (program != "env" && word[0] != '-' && word.find('=') == std::string_view::npos) break;
    line = util::trim(line.substr(end));
  }
  return program.empty() || program == "bash" || program == "sh" || program == "dash" || program == "ksh" ||
         program == "zsh" || program == "ash";
}

bool has_gap(std::string_view text) {
  const auto open = text.find('<');
  if (open != std::string_view::npos && text.find('>', open) != std::string_view::npos) return true;
  const auto brace = text.find('{');
  return brace != std::string_view::npos && text.find('}', brace) != std::string_view::npos &&
         (brace == 0 || text[brace - 1] != '$');
}

std::optional<diag::TextRange> gap_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size() || text[offset] != '<') return std::nullopt;
  const auto line = line_at(text, offset);
  const auto rest = text.substr(offset, line.offset + line.length - offset);
  const auto close = rest.find('>');
  if (close == std::string_view::npos || close < 3) return std::nullopt;
  const auto name = rest.substr(1, close - 1);
  const bool words = std::all_of(name.begin(), name.end(), [](char c) {
    return util::is_name_char(c) || c == '-' || c == ' ' || c == '.';
  });
  if (!words || std::isalpha(static_cast<unsigned char>(name.front())) == 0 || name.back() == ' ')
    return std::nullopt;
  return diag::TextRange{offset, close + 1};
}

bool has_template_mark(std::string_view line) {
  const auto has_pair = [&](std::string_view open, std::string_view close) {
    const auto begin = line.find(open);
    return begin != std::string_view::npos && line.find(close, begin) != std::string_view::npos;
  };
  return has_pair("{{", "}}") || has_pair("{%", "%}");
}

diag::TextRange line_at(std::string_view text, std::size_t offset) {
  const auto before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const auto begin = before == std::string_view::npos ? 0 : before + 1;
  auto end = std::min(text.find('\n', offset), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return {begin, end - begin};
}

std::string_view line_before(std::string_view text, std::size_t offset) {
  constexpr std::size_t k_reach = 4096;
  auto before = text.substr(0, offset);
  before.remove_prefix(before.size() - std::min(before.size(), k_reach));
  return before.substr(before.rfind('\n') + 1); // npos + 1 is 0
}

bool is_in_comment(std::string_view text, std::size_t offset) {
  const auto before = line_before(text, offset);
  return util::trim(before).starts_with("#") || before.find(" #") != std::string_view::npos;
}

bool is_only_mention(std::string_view text, std::string_view name, std::size_t place) {
  for (auto at = shell::find_name(text, name); at != std::string_view::npos;
       at = shell::find_name(text, name, at + 1))
    if (at != place && !is_in_comment(text, at)) return false;
  return true;
}

std::size_t next_line(std::string_view text, std::size_t offset) {
  const auto end = text.find('\n', offset);
  return end == std::string_view::npos ? text.size() : end + 1;
}

} // namespace hpcml::check
