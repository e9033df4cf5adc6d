// SPDX-License-Identifier: MIT
#include "core/diag/diagnostic.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "core/diag/excerpt.hpp"
#include "core/diag/line_table.hpp"
#include "core/diag/visible_text.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::diag {

Diagnostic::Diagnostic(Severity level, std::string id, std::string what, SourceLocation where,
                       std::string what_next, std::string document)
    : severity(level), code(std::move(id)), message(std::move(what)), location(std::move(where)),
      hint(std::move(what_next)), source(std::move(document)) {}

bool has_errors(const Diagnostics& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

namespace {

std::string_view name_of(Severity severity) {
  switch (severity) {
  case Severity::error: return "error";
  case Severity::warning: return "warning";
  case Severity::note: return "note";
  }
  return "error";
}

/// A text of unknown length and content as part of a message.
std::string shown(std::string_view text) {
  constexpr std::size_t k_longest = 1200;
  if (text.size() <= k_longest) return visible_text(text);
  // Cut between characters: 10xxxxxx continues one.
  const auto boundary = [text](std::size_t at) {
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80) --at;
    return at;
  };
  const auto tail = boundary(text.size() - k_longest / 2);
  return visible_text(text.substr(0, boundary(k_longest / 2))) + " […] " + visible_text(text.substr(tail));
}

std::string render_with(const Diagnostic& d, const Excerpt& excerpt, bool colour) {
  const std::string_view red = !colour ? "" : d.severity == Severity::error ? "\033[1;31m" : "\033[1;33m";
  const std::string_view plain = colour ? "\033[0m" : "";
  std::string text;
  if (d.location.line > 0)
    text += fmt::format("{}:{}:{}: ", shown(d.location.file), d.location.line, d.location.column);
  else if (!d.location.file.empty())
    text += shown(d.location.file) + ": ";
  text += fmt::format("{}{}{}: {} [{}]\n", red, name_of(d.severity), plain, shown(d.message), shown(d.code));
  if (!excerpt.line.empty()) {
    const auto carets = excerpt.marks.find('^');
    text += fmt::format("  {}\n  {}{}{}{}\n", excerpt.line, excerpt.marks.substr(0, carets), red,
                        excerpt.marks.substr(carets), plain);
  }
  if (!d.hint.empty()) text += fmt::format("  hint: {}\n", shown(d.hint));
  if (!d.source.empty()) text += fmt::format("  source: {}\n", shown(d.source));
  return text;
}

} // namespace

std::string render_text(const Diagnostic& d, std::string_view source, bool colour) {
  return render_with(d, make_excerpt(source, d.location), colour);
}

std::string render_line_text(const Diagnostic& d, std::string_view line, bool colour) {
  return render_with(d, make_line_excerpt(line, d.location), colour);
}

void sort_by_place(Diagnostics& list) {
  const auto place = [](const Diagnostic& d) {
    return std::tuple(d.location.line == 0, d.location.line, d.location.column);
  };
  // Files keep the order in which they are first named.
  std::vector<std::string> files;
  for (const auto& d : list)
    if (std::find(files.begin(), files.end(), d.location.file) == files.end())
      files.push_back(d.location.file);
  const auto rank = [&](const Diagnostic& d) {
    return std::find(files.begin(), files.end(), d.location.file) - files.begin();
  };
  std::stable_sort(list.begin(), list.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::tuple(rank(a), place(a)) < std::tuple(rank(b), place(b));
  });
}

std::string render_json(const Diagnostics& list) {
  std::string text = "[";
  for (const auto& d : list) {
    if (text.size() > 1) text += ",";
    text += JsonLine()
                .add("severity", name_of(d.severity))
                .add("code", d.code)
                .add("message", d.message)
                .add("file", d.location.file)
                .add("line", d.location.line)
                .add("column", d.location.column)
                .add("hint", d.hint)
                .add("source", d.source)
                .text();
  }
  return text + "]\n";
}

SourceLocation location_at(const std::string& file, std::string_view text, std::size_t offset,
                           unsigned length) {
  SourceLocation location{file, 1, 1, length};
  for (std::size_t i = 0; i < std::min(offset, text.size()); ++i) {
    if (text[i] == '\n') {
      ++location.line;
      location.column = 1;
    } else {
      ++location.column;
    }
  }
  return location;
}

} // namespace hpcml::diag
