// SPDX-License-Identifier: MIT
#include "run/agent/stop_messages.hpp"

#include <fmt/format.h>

#include "core/failures/failure_report.hpp"
#include "core/util/text.hpp"
#include "run/agent/stacks.hpp"

namespace hpcml::agent {

namespace {

std::vector<StackGroup> groups_of(const StopReport& report) {
  std::vector<MainThreadStack> all;
  for (const auto& of_node : report.stacks) all.insert(all.end(), of_node.begin(), of_node.end());
  return group_places(std::move(all));
}

/// Returns " after a pause of 4 s"; an empty text if there is none.
std::string describe_pause(std::chrono::seconds pause) {
  return pause.count() == 0 ? "" : fmt::format(" after a pause of {} s", pause.count());
}

std::string describe_restart(unsigned restart, unsigned max_restarts, std::chrono::seconds pause) {
  return fmt::format("all ranks are restarted{} (restart {} of {})", describe_pause(pause), restart,
                     max_restarts);
}

std::string what_happens_next(const failures::RankFailure& note, const RestartDecision& after) {
  if (after.restart > 0) return describe_restart(after.restart, after.max_restarts, after.pause);
  std::vector<std::string> parts;
  if (note.of_launcher)
    parts.emplace_back("all ranks were stopped because of this");
  else if (after.world_size > 1)
    parts.push_back(fmt::format("the other ranks were stopped because rank {} failed", note.rank));
  if (after.max_restarts > 0 && note.attempt >= after.max_restarts)
    parts.push_back(after.max_restarts == 1 ? "the only restart was used"
                                            : fmt::format("all {} restarts were used", after.max_restarts));
  return util::join(parts, "; ");
}

} // namespace

std::vector<std::string> render_failure_report(const failures::RankFailure& note,
                                               const RestartDecision& after) {
  auto lines = failures::render_lines(failures::make_report(note, after.world_size));
  if (const auto next = what_happens_next(note, after); !next.empty()) lines.push_back("  " + next);
  return lines;
}

std::vector<std::string> render_stop(const StopReport& report, unsigned max_restarts, unsigned world_size) {
  std::vector<std::string> lines;
  if (report.failure) {
    lines = render_failure_report(
        *report.failure, {world_size, report.restarts_all ? report.restarts : 0, max_restarts, report.pause});
  } else {
    lines.push_back(report.reason);
    if (!report.stacks.empty()) lines.push_back(render_odd_ranks(groups_of(report)));
    if (report.restarts_all && report.stacks.empty())
      lines.push_back(fmt::format("all ranks are restarted{}", describe_pause(report.pause)));
    else if (report.restarts_all)
      lines.push_back(describe_restart(report.restarts, max_restarts, report.pause));
  }
  return lines;
}

util::LogLevel level_of_stop(const StopReport& report) {
  const bool has_failed = report.failure || !report.stacks.empty();
  const bool is_requested = report.restarts_all || report.code > 128; // nodes joined, or a signal
  return has_failed || !is_requested ? util::LogLevel::error : util::LogLevel::info;
}

std::string render_stalled(const StopReport& report) {
  return report.stacks.empty() ? "" : render_places(groups_of(report), report.reason);
}

} // namespace hpcml::agent
