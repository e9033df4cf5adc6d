// SPDX-License-Identifier: MIT
#include "diag/diagnostic.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace hpcml::diag {

bool has_errors(const Diagnostics& list) {
  return std::any_of(list.begin(), list.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
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

std::string_view line_of(std::string_view source, unsigned number) {
  for (unsigned line = 1; line < number; ++line) {
    const auto end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  return source.substr(0, source.find('\n'));
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const unsigned char c : text) {
    if (c == '"' || c == '\\') out += fmt::format("\\{}", static_cast<char>(c));
    else if (c < 0x20) out += fmt::format("\\u{:04x}", c);
    else out += static_cast<char>(c);
  }
  return out + "\"";
}

} // namespace

std::string render_text(const Diagnostic& d, std::string_view source, bool colour) {
  const std::string_view red = !colour ? "" : d.severity == Severity::error ? "\033[1;31m" : "\033[1;33m";
  const std::string_view plain = colour ? "\033[0m" : "";
  std::string text;
  if (d.span.line > 0) text += fmt::format("{}:{}:{}: ", d.span.file, d.span.line, d.span.column);
  else if (!d.span.file.empty()) text += d.span.file + ": ";
  text += fmt::format("{}{}{}: {} [{}]\n", red, name_of(d.severity), plain, d.message, d.code);
  const auto line = d.span.line > 0 ? line_of(source, d.span.line) : std::string_view{};
  if (!line.empty()) {
    // Tabs are kept before the caret, so that it stands under its column whatever the terminal's tab width.
    std::string pad;
    for (unsigned i = 0; i + 1 < d.span.column && i < line.size(); ++i) pad += line[i] == '\t' ? '\t' : ' ';
    text += fmt::format("  {}\n  {}{}{}{}\n", line, pad, red, std::string(std::max(1U, d.span.length), '^'), plain);
  }
  if (!d.hint.empty()) text += fmt::format("  hint: {}\n", d.hint);
  return text;
}

std::string render_json(const Diagnostics& list) {
  std::string text = "[";
  for (const auto& d : list) {
    if (text.size() > 1) text += ",";
    text += fmt::format("{{\"severity\":{},\"code\":{},\"message\":{},\"file\":{},\"line\":{},\"column\":{},\"hint\":{}}}",
                        json_text(name_of(d.severity)), json_text(d.code), json_text(d.message), json_text(d.span.file),
                        d.span.line, d.span.column, json_text(d.hint));
  }
  return text + "]\n";
}

Span span_at(const std::string& file, std::string_view text, std::size_t offset, unsigned length) {
  Span span{file, 1, 1, length};
  for (std::size_t i = 0; i < std::min(offset, text.size()); ++i) {
    if (text[i] == '\n') {
      ++span.line;
      span.column = 1;
    } else {
      ++span.column;
    }
  }
  return span;
}

} // namespace hpcml::diag
