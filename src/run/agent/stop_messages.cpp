// SPDX-License-Identifier: MIT
#include "run/agent/stop_messages.hpp"

#include <fmt/format.h>

#include "core/failures/failure_report.hpp"
#include "core/util/text.hpp"
#include "run/agent/stacks.hpp"

namespace hpcml::agent {

namespace {

std::vector<StackGroup> groups_of(const AgentCommand& order) {
  std::vector<MainThreadStack> all;
  for (const auto& bytes : order.stacks)
    if (auto places = unpack_places(bytes))
      for (auto& place : *places) all.push_back(std::move(place));
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

std::vector<std::string> render_stop(const AgentCommand& order, unsigned max_restarts, unsigned world_size) {
  const bool restarts = order.kind != AgentCommand::Kind::end && order.restarts_all;
  std::vector<std::string> lines;
  if (order.failure) {
    lines = render_failure_report(*order.failure,
                                  {world_size, restarts ? order.restarts : 0, max_restarts, order.pause});
  } else {
    lines.push_back(order.reason);
    if (!order.stacks.empty()) lines.push_back(render_odd_ranks(groups_of(order)));
    if (restarts && order.stacks.empty())
      lines.push_back(fmt::format("all ranks are restarted{}", describe_pause(order.pause)));
    else if (restarts)
      lines.push_back(describe_restart(order.restarts, max_restarts, order.pause));
  }
  return lines;
}

util::LogLevel level_of_stop(const AgentCommand& order) {
  const bool has_failed = order.failure || !order.stacks.empty();
  const bool is_requested = order.restarts_all || order.code > 128; // nodes joined, or a signal
  return has_failed || !is_requested ? util::LogLevel::error : util::LogLevel::info;
}

std::string render_stalled(const AgentCommand& order) {
  return order.stacks.empty() ? "" : render_places(groups_of(order), order.reason);
}

} // namespace hpcml::agent
