// SPDX-License-Identifier: MIT
#include "run/agent/failure_order.hpp"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <sys/wait.h>

#include "core/failures/failure_table.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"

namespace hpcml::agent {

namespace {

/// Error files have whole seconds, so that of two nodes a difference below one second is not known; the rest
/// is for the messages' way.
constexpr std::int64_t k_clock_margin = 900;

/// Whether a rank prints the text because another one has ended.
bool reports_loss(std::string_view text) {
  return failures::find_error([&](const failures::KnownError& error) {
           return error.is_of_lost_peer && matches(error, text);
         }) != nullptr;
}

/// Whether a program's last word is what it failed of.
bool ends_with_message(const failures::RankFailure& note) {
  if (note.message.empty()) return false;
  const auto first = note.message.substr(0, note.message.find('\n'));
  for (auto line = note.last_lines.rbegin(); line != note.last_lines.rend(); ++line)
    if (!util::trim(*line).empty()) return line->find(first) != std::string::npos;
  return false;
}

/// Returns whether Python or torch raised this because of TERM.
bool is_of_request(const std::string& message) {
  for (const auto* name : {"SignalException", "KeyboardInterrupt", "SystemExit"})
    if (message.find(name) != std::string::npos) return true;
  return false;
}

} // namespace

bool is_end_by_request(int status) {
  const int code = util::exit_code_of_status(status);
  return code == 128 + SIGTERM || code == 128 + SIGKILL;
}

bool may_be_cause(const failures::RankFailure& later, const failures::RankFailure& first) {
  if (later.gpu_fault.empty()) {
    if (later.cut_short && later.reported_at == 0 && !ends_with_message(later)) return false;
    if (is_of_request(later.message)) return false;
  }
  return precedes(later, first) || needs_arrival(later, first);
}

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
