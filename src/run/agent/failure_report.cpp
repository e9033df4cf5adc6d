// SPDX-License-Identifier: MIT
#include "run/agent/failure_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <set>

#include "core/failures/rank_failure.hpp"
#include "core/util/text.hpp"
#include "core/util/visible.hpp"
#include "run/launch/rank_process.hpp"

namespace hpcml::agent {

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
Lines traceback_lines(const failures::RankFailure& note, const Lines& message) {
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
Lines other_last_lines(const failures::RankFailure& note) {
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

/// The last of them below a headline.
void add_block(Lines& report, const std::string& headline, const Lines& lines, std::size_t most) {
  if (lines.empty()) return;
  report.push_back("  " + headline);
  const bool cut = lines.size() > most;
  if (cut) report.emplace_back("    …");
  const auto first = cut ? lines.size() - most + 1 : 0;
  for (auto i = first; i < lines.size(); ++i)
    report.push_back(lines[i].empty() ? "" : "    " + shown(lines[i]));
}

std::string what_happens_next(const failures::RankFailure& note, const RestartDecision& decision) {
  if (decision.restart > 0) return describe_restart(decision.restart, decision.max_restarts, decision.pause);
  Lines parts;
  if (note.of_launcher)
    parts.emplace_back("all ranks were stopped because of this");
  else if (decision.world_size > 1)
    parts.push_back(fmt::format("the other ranks were stopped because rank {} failed", note.rank));
  if (decision.max_restarts > 0 && note.attempt >= decision.max_restarts)
    parts.push_back(decision.max_restarts == 1
                        ? "the only restart was used"
                        : fmt::format("all {} restarts were used", decision.max_restarts));
  return util::join(parts, "; ");
}

} // namespace

std::string describe_pause(std::chrono::seconds pause) {
  return pause.count() == 0 ? "" : fmt::format(" after a pause of {} s", pause.count());
}

std::string describe_restart(unsigned restart, unsigned max_restarts, std::chrono::seconds pause) {
  return fmt::format("all ranks are restarted{} (restart {} of {})", describe_pause(pause), restart,
                     max_restarts);
}

std::string render_failed_rank(const failures::RankFailure& note, unsigned world_size) {
  if (note.of_launcher) return shown(fmt::format("hpcml itself failed on {}", note.host));
  const auto label =
      rank_label({note.rank, world_size, note.host, static_cast<int>(note.local_rank)}, note.gpu);
  return shown(fmt::format("{} {} after {:.1f} s", label,
                           note.cut_short ? "failed" : launch::describe_end(note.status), note.seconds));
}

std::vector<std::string> render_failure_report(const failures::RankFailure& note,
                                               const RestartDecision& decision) {
  Lines report = {render_failed_rank(note, decision.world_size)};
  if (note.out_of_memory)
    report.push_back(fmt::format("  {}", shown(note.memory.empty()
                                                   ? "out of memory: the kernel killed a process of this rank"
                                                   : note.memory)));
  if (!note.gpu_fault.empty())
    report.push_back(fmt::format("  kernel of the node: {}", shown(note.gpu_fault)));
  const auto message = lines_of(note.message);
  for (std::size_t i = 0; i < message.size() && i < k_most_message_lines; ++i)
    report.push_back((i == 0 ? "  error: " : "    ") + shown(message[i]));
  add_block(report, "traceback:", traceback_lines(note, message), k_most_traceback_lines);
  add_block(report, "last lines of its standard error:", other_last_lines(note), k_most_last_lines);
  if (const auto hint = failures::find_hint(note); !hint.empty())
    report.push_back(fmt::format("  hint: {}", util::visible(hint)));
  if (const auto next = what_happens_next(note, decision); !next.empty())
    report.push_back(fmt::format("  {}", next));
  return report;
}

} // namespace hpcml::agent
