// SPDX-License-Identifier: MIT
#include "generate/import_script/text_cuts.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::import_script {

namespace {

bool covers(const std::vector<ByteRange>& ranges, ByteRange line) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const ByteRange& range) {
    return range.begin <= line.begin && range.end >= line.end;
  });
}

} // namespace

bool continues_line(std::string_view text, std::size_t line) {
  const auto before = util::trim(text.substr(0, line));
  return before.ends_with("\\") || before.ends_with("|") || before.ends_with("&&");
}

std::size_t TextCuts::line_begin(std::size_t at) const {
  const auto before = at == 0 ? std::string_view::npos : x_text.rfind('\n', at - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

std::size_t TextCuts::line_end(std::size_t at) const {
  const auto end = x_text.find('\n', at);
  return end == std::string_view::npos ? x_text.size() : end + 1;
}

bool TextCuts::in_comment(std::size_t at) const {
  const auto first = x_text.find_first_not_of(" \t", line_begin(at));
  return first <= at && x_text[first] == '#';
}

void TextCuts::replace(ByteRange range, std::string text) {
  x_instead[range.begin] = std::move(text);
  cut(range);
}

/// Whether it is one of several in a list of && or ||, or in a pipeline.
bool TextCuts::is_tied(ByteRange statement) const {
  constexpr const char* c_blanks = " \t\\\n";
  const auto last =
      statement.begin == 0 ? std::string_view::npos : x_text.find_last_not_of(c_blanks, statement.begin - 1);
  if (last != std::string_view::npos && last > 0 &&
      (x_text[last] == '|' || x_text.substr(last - 1, 2) == "&&"))
    return true;
  const auto next = x_text.find_first_not_of(" \t\\", statement.end);
  return next != std::string_view::npos && (x_text[next] == '|' || x_text.substr(next, 2) == "&&");
}

void TextCuts::cut_lines(ByteRange statement) {
  if (is_tied(statement)) return replace(statement, "true");
  const auto begin = line_begin(statement.begin);
  const auto end = line_end(statement.end);
  const auto before = util::trim(x_text.substr(begin, statement.begin - begin));
  const auto behind = util::trim(x_text.substr(statement.end, end - statement.end));
  if (before.empty() && (behind.empty() || behind.front() == '#')) {
    statement = {begin, end};
    x_statements.push_back(statement);
  } else if (!behind.empty() && behind.front() == ';') {
    statement.end = x_text.find(';', statement.end) + 1;
  }
  cut(statement);
}

bool TextCuts::holds(std::size_t at) const {
  return std::any_of(x_cuts.begin(), x_cuts.end(),
                     [&](const ByteRange& range) { return at >= range.begin && at < range.end; });
}

TextCuts::Line TextCuts::kind_of(ByteRange line, const std::vector<ByteRange>& code) const {
  if (covers(x_statements, line)) return Line::lost;
  if (covers(x_cuts, line)) return Line::header;
  const auto text = util::trim(x_text.substr(line.begin, line.end - line.begin));
  const auto inside = [&](const ByteRange& range) {
    return range.begin < line.begin && range.end > line.begin;
  };
  if (std::any_of(code.begin(), code.end(), inside)) return Line::code;
  if (text.empty()) return Line::blank;
  return text.front() == '#' ? Line::comment : Line::code;
}

TextCuts::Lines TextCuts::read_lines(const std::vector<ByteRange>& code) const {
  Lines lines;
  for (std::size_t at = 0; at < x_text.size(); at = line_end(at)) {
    lines.ranges.push_back({at, line_end(at)});
    lines.kinds.push_back(kind_of(lines.ranges.back(), code));
  }
  return lines;
}

/// "#####": says nothing by itself.
bool TextCuts::is_banner(ByteRange line) const {
  const auto text = x_text.substr(line.begin, line.end - line.begin);
  return std::none_of(text.begin(), text.end(), [](char c) { return shell::is_name_char(c) && c != '_'; });
}

/// True for a licence, which is about the whole script, and for a disabled command.
bool TextCuts::stays_anyhow(ByteRange line) const {
  const auto text = util::to_lower(x_text.substr(line.begin, line.end - line.begin));
  for (const auto* word : {"copyright", "license", "licence", "spdx"})
    if (text.find(word) != std::string::npos) return true;
  const auto first = text.find_first_not_of("# \t");
  if (first == std::string::npos) return false;
  static constexpr std::array<std::string_view, 9> k_commands = {
      "export ", "srun ", "python ", "python3 ", "torchrun ", "module ", "source ", "mpirun ", "--"};
  for (const auto command : k_commands)
    if (text.compare(first, command.size(), command) == 0) return true;
  auto end = first;
  while (end < text.size() && shell::is_name_char(text[end])) ++end;
  return end > first && end < text.size() && text[end] == '=';
}

std::vector<ByteRange> TextCuts::cut_orphans(const std::vector<ByteRange>& code) {
  const auto lines = read_lines(code);
  const auto& kinds = lines.kinds;
  std::vector<ByteRange> comments;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != Line::lost) continue;
    const auto first = i;
    while (i + 1 < kinds.size() && kinds[i + 1] == Line::lost) ++i;
    auto next = i + 1;
    if (next < kinds.size() && kinds[next] == Line::code) continue;
    auto above = first;
    while (above > 0 && kinds[above - 1] == Line::comment) --above;
    const bool stays = std::any_of(lines.ranges.begin() + static_cast<std::ptrdiff_t>(above),
                                   lines.ranges.begin() + static_cast<std::ptrdiff_t>(first),
                                   [&](ByteRange line) { return stays_anyhow(line); });
    if (above < first && !stays) {
      // A banner below closes the one above.
      if (is_banner(lines.ranges[above]))
        while (next < kinds.size() && kinds[next] == Line::comment && is_banner(lines.ranges[next])) ++next;
      comments.push_back({lines.ranges[above].begin, lines.ranges[first - 1].end});
      cut({lines.ranges[above].begin, lines.ranges[next - 1].end});
    } else {
      above = first;
    }
    const bool open = above == 0 || kinds[above - 1] == Line::blank || kinds[above - 1] == Line::header;
    if (open && next < kinds.size() && kinds[next] == Line::blank) cut(lines.ranges[next]);
  }
  return comments;
}

std::string TextCuts::rest(std::size_t begin, std::size_t end) {
  std::sort(x_cuts.begin(), x_cuts.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::string text;
  for (const auto& range : x_cuts) {
    const bool is_before = range.begin < begin && range.end <= begin;
    if (is_before || range.begin >= end) continue;
    if (range.begin > begin) text += x_text.substr(begin, range.begin - begin);
    if (const auto instead = x_instead.find(range.begin); instead != x_instead.end() && range.begin >= begin)
      text += instead->second;
    begin = std::min(std::max(begin, range.end), end);
  }
  if (end > begin) text += x_text.substr(begin, end - begin);
  return text;
}

} // namespace hpcml::import_script
