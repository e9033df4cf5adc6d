// SPDX-License-Identifier: MIT
#include "generate/render/word.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/diag/visible_text.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::render {

namespace {

/// True if the character is invisible, or changes the order of what follows.
bool is_hidden(const diag::VisibleChar& c, std::string_view text) {
  return c.shown != text.substr(0, c.length);
}

bool has_hidden(std::string_view text) {
  // Nearly every word contains only printable ASCII, which is visible.
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; })) return false;
  for (; !text.empty();) {
    const auto c = diag::first_visible(text);
    if (is_hidden(c, text)) return true;
    text.remove_prefix(c.length);
  }
  return false;
}

std::string quote_ansi(std::string_view word) {
  std::string text = "$'";
  for (; !word.empty();) {
    const auto c = diag::first_visible(word);
    if (word[0] == '\'' || word[0] == '\\')
      text += {'\\', word[0]};
    else if (word[0] == '\n' || word[0] == '\t' || word[0] == '\r' || !is_hidden(c, word))
      text += c.shown;
    else // its bytes: bash reads \uNNNN by the locale of the job
      for (const char byte : word.substr(0, c.length))
        text += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
    word.remove_prefix(c.length);
  }
  return text + "'";
}

std::string quote_double(std::string_view word) {
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') text += '\\';
    text += c;
  }
  return text + "\"";
}

/// Length of "$NAME", "${NAME}" or "${NAME:-word}" at the start of `text`; 0 if there is none.
std::size_t variable_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '$') return 0;
  const bool braces = text[1] == '{';
  std::size_t end = braces ? 2 : 1;
  const std::size_t first = end;
  if (first >= text.size() || std::isdigit(static_cast<unsigned char>(text[first])) != 0) return 0;
  while (end < text.size() && util::is_name_char(text[end])) ++end;
  if (end == first) return 0;
  if (!braces) return end;
  if (text.substr(end, 2) == ":-") {
    end += 2;
    while (end < text.size() &&
           (util::is_name_char(text[end]) || text[end] == '/' || text[end] == '.' || text[end] == '-'))
      ++end;
  }
  return end < text.size() && text[end] == '}' ? end + 1 : 0;
}

} // namespace

std::string ScriptWord::to_shell() const { return x_expression ? x_text : quote_word(x_text); }

ScriptWords literals(const std::vector<std::string>& texts) {
  ScriptWords words;
  for (const auto& text : texts) words.push_back(ScriptWord::literal(text));
  return words;
}

std::string join_words(const ScriptWords& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + word.to_shell();
  return line;
}

std::string wrap_words(const ScriptWords& words, std::size_t column, std::string_view indent,
                       std::size_t after) {
  constexpr std::size_t k_columns = 110, k_mark = 2; // " \\"
  const auto is_option = [](const std::string& text) { return text.size() > 1 && text.front() == '-'; };
  std::string wrapped;
  bool is_first = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto unit = words[i].to_shell();
    if (is_option(unit) && unit != "--" && i + 1 < words.size())
      if (const auto value = words[i + 1].to_shell(); !is_option(value)) {
        unit += " " + value;
        ++i;
      }
    const auto width = std::min(unit.find('\n'), unit.size());
    const auto mark = i + 1 < words.size() ? k_mark : after;
    const bool fits_nowhere = indent.size() + width + mark > k_columns;
    if (!is_first && !fits_nowhere && column + 1 + width + mark > k_columns) {
      wrapped += " \\\n" + std::string(indent);
      column = indent.size();
    } else if (!is_first) {
      wrapped += " ";
      ++column;
    }
    wrapped += unit;
    const auto line = unit.rfind('\n');
    column = line == std::string::npos ? column + unit.size() : unit.size() - line - 1;
    is_first = false;
  }
  return wrapped;
}

std::string quote_word(std::string_view word) {
  if (has_hidden(word)) return quote_ansi(word);
  // Typographic quotes inside plain ones look like an editor's mistake, also to shellcheck.
  if (word.find("\xe2\x80") != std::string_view::npos) return quote_ansi(word);
  // A quoted tilde at the start looks like a forgotten expansion; escaped, it is plainly meant.
  if (!word.empty() && word.front() == '~')
    return "\\~" + (word.size() > 1 ? quote_word(word.substr(1)) : "");
  if (word.find_first_of("'$`\\") == std::string_view::npos) return util::shell_quote(word);
  return quote_double(word);
}

std::string quote_program(std::string_view text) {
  return "'" + util::replace_all(std::string(text), "'", "'\\''") + "'";
}

std::string quote_path(std::string_view path) {
  if (path.find('$') == std::string_view::npos) return quote_word(path);
  std::string text = "\"";
  while (!path.empty()) {
    if (const auto length = variable_length(path); length > 0) {
      text += path.substr(0, length);
      path.remove_prefix(length);
      continue;
    }
    if (path.front() == '"' || path.front() == '\\' || path.front() == '$' || path.front() == '`')
      text += '\\';
    text += path.front();
    path.remove_prefix(1);
  }
  return text + "\"";
}

std::string quote_expression(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const auto length = std::max<std::size_t>(variable_length(text), 1);
    auto name = text.substr(0, length);
    name.remove_prefix(name.starts_with("${") ? 2 : 1);
    if (!name.empty() && name.back() == '}') name.remove_suffix(1);
    // Scripts run under `set -u`, and a profile may well name what only some nodes or modules set.
    if (std::all_of(name.begin(), name.end(), util::is_name_char) && !name.empty())
      quoted += fmt::format("${{{}-}}", name);
    else
      quoted += text.substr(0, length);
    text.remove_prefix(length);
  }
  return quoted + "\"";
}

namespace {

/// NAME of "$NAME" or "${NAME}"; empty for other texts.
std::string variable_name(std::string_view text) {
  if (text.empty() || variable_length(text) != text.size()) return {};
  text.remove_prefix(text.starts_with("${") ? 2 : 1);
  if (text.back() == '}') text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), util::is_name_char) ? std::string(text) : std::string();
}

/// Variables of a search path: each brings the colon after it. The last one has no item after it, so that
/// only the one before it knows whether both have a value.
std::string join_variables(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i + 2 < names.size(); ++i) text += fmt::format("${{{0}:+${0}:}}", names[i]);
  const auto& last = names.back();
  if (names.size() > 1) text += fmt::format("${{{0}:+${0}${{{1}:+:}}}}", names[names.size() - 2], last);
  return text + fmt::format("${{{}-}}", last);
}

/// A search path with an item that always has a value: variables before it bring the colon after them, those
/// after it the colon before them.
std::string join_items(const std::vector<std::string>& items, const std::vector<std::string>& names) {
  const auto fixed = static_cast<std::size_t>(
      std::find_if(names.begin(), names.end(), [](const auto& name) { return name.empty(); }) -
      names.begin());
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!names[i].empty()) {
      text += i < fixed ? fmt::format("${{{0}:+${0}:}}", names[i]) : fmt::format("${{{0}:+:${0}}}", names[i]);
      continue;
    }
    const auto item = quote_expression(items[i]); // in quotes
    text += (i > fixed ? ":" : "") + item.substr(1, item.size() - 2);
  }
  return text;
}

} // namespace

std::string quote_search_path(std::string_view text) {
  const auto items = util::split(std::string(text), ':');
  const auto is_empty = [](const auto& item) { return item.empty(); };
  if (items.size() < 2 || std::any_of(items.begin(), items.end(), is_empty)) return quote_expression(text);
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(variable_name(item));
  const bool has_fixed = std::any_of(names.begin(), names.end(), is_empty);
  // An assignment does not split its value into words: variables alone need no quotes.
  return has_fixed ? "\"" + join_items(items, names) + "\"" : join_variables(names);
}

std::string comment_text(std::string_view text) {
  auto out = diag::visible_text(text);
  // A backslash at the end of a comment looks like a continuation, also to shellcheck.
  if (!out.empty() && out.back() == '\\') out += " ";
  return out;
}

} // namespace hpcml::render
