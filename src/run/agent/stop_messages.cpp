// SPDX-License-Identifier: MIT
#include "run/agent/stop_messages.hpp"

#include <fmt/format.h>

#include "run/agent/failure_report.hpp"
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

} // namespace

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
