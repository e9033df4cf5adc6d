// SPDX-License-Identifier: MIT
#include "agent/stop_words.hpp"

#include <cstdio>

#include "launch/rank_process.hpp"

namespace hpcml::agent {

std::string describe_failure(const FailureNote& note) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", note.seconds);
  return "rank " + std::to_string(note.rank) + " (local rank " + std::to_string(note.local_rank) +
         " on host " + note.host + (note.gpu.empty() ? "" : ", " + note.gpu) + ") " +
         (note.pid == 0 ? "was not started" : launch::describe_end(note.status)) + " after " + seconds + " s";
}

std::string render_stop(const Order& order, unsigned max_restarts) {
  std::string text = "hpcml agent: " + (order.failure ? describe_failure(*order.failure) : order.reason);
  if (order.kind != Order::Kind::stop) return text;
  if (!order.restarts_all) return text + "; the other ranks are stopped";
  return text + (order.failure ? "; all ranks are started again (restart " + std::to_string(order.restarts) +
                                     " of " + std::to_string(max_restarts) + ")"
                               : "; the others are started again");
}

} // namespace hpcml::agent
