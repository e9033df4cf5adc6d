// SPDX-License-Identifier: MIT
#include "run/agent/failure_order.hpp"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <sys/wait.h>

namespace hpcml::agent {

namespace {

/// Texts of gloo, NCCL and torch's store about a closed connection to another rank.
constexpr std::string_view k_lost[] = {
    "Connection closed by peer",
    "Connection reset by peer",
    "Connection closed by remote peer",
    "Connection was likely closed",
    "remote process exited",
    "failed to recv, got 0 bytes",
    "Broken pipe",
    "Connection was closed by",
    "peer closed",
};

/// Error files have whole seconds, so that of two nodes a difference below one second is not known; the rest
/// is for the messages' way.
constexpr std::int64_t k_clock_margin = 900;

bool reports_loss(std::string_view text) {
  return std::any_of(std::begin(k_lost), std::end(k_lost),
                     [&](auto words) { return text.find(words) != std::string_view::npos; });
}

} // namespace

bool is_secondary_failure(const failures::RankFailure& note) {
  if (note.of_launcher || note.out_of_memory) return false;
  // Watchdogs abort a program that waits for another rank.
  if (WIFSIGNALED(note.status) && WTERMSIG(note.status) != SIGABRT && !note.cut_short) return false;
  if (!note.message.empty()) return reports_loss(note.message);
  return std::any_of(note.last_lines.begin(), note.last_lines.end(), reports_loss);
}

bool precedes(const failures::RankFailure& later, const failures::RankFailure& first) {
  if (later.gpu_fault.empty() != first.gpu_fault.empty()) return first.gpu_fault.empty();
  const bool suffers = is_secondary_failure(later);
  if (suffers != is_secondary_failure(first)) return !suffers;
  if (later.reported_at == 0 || first.reported_at == 0) return false;
  if (later.host == first.host) return later.reported_at < first.reported_at;
  return later.failed_at + k_clock_margin <= first.failed_at;
}

bool needs_arrival(const failures::RankFailure& later, const failures::RankFailure& first) {
  return later.host != first.host && later.reported_at > 0 && first.reported_at > 0 &&
         later.gpu_fault.empty() == first.gpu_fault.empty() &&
         is_secondary_failure(later) == is_secondary_failure(first);
}

std::int64_t age_of(std::int64_t reported_at, std::int64_t now, std::int64_t run_time) {
  return reported_at == 0 ? 0 : std::clamp<std::int64_t>(now - reported_at * 1000, 0, run_time);
}

bool may_be_secondary(const failures::RankFailure& first) {
  return first.gpu_fault.empty() && (first.reported_at > 0 || is_secondary_failure(first));
}

} // namespace hpcml::agent
