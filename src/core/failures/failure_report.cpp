// SPDX-License-Identifier: MIT
#include "core/failures/failure_report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/util/signal_names.hpp"
#include "core/util/text.hpp"
#include "core/util/visible.hpp"
#include "hpcml/rank_label.hpp"

namespace hpcml::failures {

namespace {

constexpr std::size_t k_most_of_line = 400; ///< bytes; "\x1b" for a control character counts as one
constexpr std::size_t k_most_message_lines = 3;
constexpr std::size_t k_most_traceback_lines = 30;
constexpr std::size_t k_most_last_lines = 20;

using Lines = std::vector<std::string>;

/// Without the colours that programs give their lines ("\x1b[31m").
std::string without_colours(std::string_view line) {
  std::string plain;
  while (!line.empty()) {
    const auto escape = line.find("\x1b[");
    plain += line.substr(0, escape);
    if (escape == std::string_view::npos) break;
    line.remove_prefix(escape);
    const auto end = line.find_first_not_of("0123456789;:", 2);
    const bool colour = end != std::string_view::npos && line[end] == 'm';
    if (!colour) plain += line.substr(0, 2);
    line.remove_prefix(colour ? end + 1 : 2);
  }
  return plain;
}

/// As a terminal would show it at last: a progress bar's newest state, without colours.
std::string at_last(std::string_view line) {
  while (line.ends_with('\r') || line.ends_with('\n')) line.remove_suffix(1);
  if (const auto back = line.rfind('\r'); back != std::string_view::npos) line.remove_prefix(back + 1);
  return without_colours(line);
}

std::string shown(const std::string& line) {
  if (line.size() <= k_most_of_line) return util::visible(line);
  auto most = k_most_of_line;
  while (most > 0 && (static_cast<unsigned char>(line[most]) & 0xc0U) == 0x80) --most;
  return util::visible(line.substr(0, most)) + " …";
}

std::string trimmed(const std::string& line) { return std::string(util::trim(line)); }

Lines lines_of(const std::string& text) {
  Lines lines;
  for (const auto& line : util::split(text, '\n')) lines.push_back(at_last(line));
  while (!lines.empty() && trimmed(lines.back()).empty()) lines.pop_back();
  return lines;
}

/// The traceback without what the message says already at its end.
Lines traceback_lines(const RankFailure& note, const Lines& message) {
  auto lines = lines_of(note.traceback);
  const auto same = [](const std::string& a, const std::string& b) { return trimmed(a) == trimmed(b); };
  if (!message.empty() && lines.size() >= message.size() &&
      std::equal(message.rbegin(), message.rend(), lines.rbegin(), same))
    lines.resize(lines.size() - message.size());
  return lines;
}

/// torch puts "[rank0]: " in front of the lines of a traceback.
std::string without_rank(const std::string& line) {
  if (!line.starts_with("[rank")) return line;
  const auto end = line.find_first_not_of("0123456789", 5);
  return end != std::string::npos && end > 5 && line.compare(end, 3, "]: ") == 0 ? line.substr(end + 3)
                                                                                 : line;
}

/// Returns the last lines without those of the message and the traceback. These are found by their text,
/// because @record omits frames that Python prints.
Lines other_last_lines(const RankFailure& note) {
  Lines lines;
  for (const auto& line : note.last_lines) lines.push_back(without_rank(at_last(line)));
  std::set<std::string> printed_lines;
  for (const auto* text : {&note.message, &note.traceback})
    for (const auto& line : lines_of(*text)) printed_lines.insert(trimmed(line));
  const bool traced = !note.traceback.empty();
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [&](const auto& line) {
    return !trimmed(line).empty() && printed_lines.count(trimmed(line)) == 1;
  });
  const auto end_of_message =
      static_cast<std::size_t>(lines.rend() - last); // after the last line that was shown
  std::size_t begin_of_message = end_of_message;
  // The frames above it go with it: indented lines up to the header, which may be cut off, or to an empty
  // line.
  while (traced && begin_of_message > 0) {
    const auto& line = lines[begin_of_message - 1];
    if (line.empty() || (line[0] != ' ' && line[0] != '\t' && printed_lines.count(trimmed(line)) == 0)) break;
    --begin_of_message;
  }
  Lines rest;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if ((i >= begin_of_message && i < end_of_message) || printed_lines.count(trimmed(lines[i])) == 1)
      continue;
    if (trimmed(lines[i]).empty() && (rest.empty() || rest.back().empty())) continue;
    rest.push_back(trimmed(lines[i]).empty() ? "" : lines[i]);
  }
  while (!rest.empty() && rest.back().empty()) rest.pop_back();
  return rest;
}

/// Adds the last of the lines below a headline.
void add_block(Lines& details, const std::string& headline, const Lines& lines, std::size_t most) {
  if (lines.empty()) return;
  details.push_back(headline);
  const bool cut = lines.size() > most;
  if (cut) details.emplace_back("  …");
  const auto first = cut ? lines.size() - most + 1 : 0;
  for (auto i = first; i < lines.size(); ++i)
    details.push_back(lines[i].empty() ? "" : "  " + shown(lines[i]));
}

} // namespace

std::vector<std::string> render_lines(const FailureReport& report) {
  Lines lines = {report.what};
  for (const auto& detail : report.details) lines.push_back(detail.empty() ? "" : "  " + detail);
  for (const auto& hint : report.hints) lines.push_back(fmt::format("  hint: {}", hint));
  return lines;
}

std::string render_failed_rank(const RankFailure& failure, unsigned world_size) {
  if (failure.of_launcher) return fmt::format("hpcml itself failed on {}", failure.host);
  const auto label =
      rank_label({failure.rank, world_size, failure.host, static_cast<int>(failure.local_rank)}, failure.gpu);
  return fmt::format("{} {} after {:.1f} s", label,
                     failure.cut_short ? "failed" : util::describe_end(failure.status), failure.seconds);
}

FailureReport make_report(const RankFailure& failure, unsigned world_size) {
  FailureReport report{shown(render_failed_rank(failure, world_size)), {}, {}};
  auto& details = report.details;
  if (failure.out_of_memory)
    details.push_back(shown(failure.memory.empty() ? "out of memory: the kernel killed a process of this rank"
                                                   : failure.memory));
  if (!failure.gpu_fault.empty())
    details.push_back(fmt::format("kernel of the node: {}", shown(failure.gpu_fault)));
  const auto message = lines_of(failure.message);
  for (std::size_t i = 0; i < message.size() && i < k_most_message_lines; ++i)
    details.push_back((i == 0 ? "error: " : "  ") + shown(message[i]));
  add_block(details, "traceback:", traceback_lines(failure, message), k_most_traceback_lines);
  add_block(details, "last lines of its standard error:", other_last_lines(failure), k_most_last_lines);
  if (const auto hint = find_hint(failure); !hint.empty()) report.hints.push_back(util::visible(hint));
  return report;
}

} // namespace hpcml::failures
