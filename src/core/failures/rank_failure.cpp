// SPDX-License-Identifier: MIT
#include "core/failures/rank_failure.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/wait.h>

#include "core/util/signal_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::failures {

namespace {

/// Returns the first row of programs and libraries with a line in what the rank wrote. Rows that need
/// several lines are about several ranks.
const KnownError* find_printed_error(const RankFailure& failure) {
  const auto lines = util::split(
      fmt::format("{}\n{}\n{}", failure.message, failure.traceback, util::join(failure.last_lines, "\n")),
      '\n');
  return find_error([&](const KnownError& error) {
    const bool explains = !error.is_of_lost_peer || !error.hint.empty();
    return explains && error.source == ErrorSource::rank_output && error.least == 1 &&
           std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return matches(error, line); });
  });
}

/// Returns the row of the signal that ended the rank.
const KnownError* find_end(int status) {
  const char* signal = WIFSIGNALED(status) ? util::find_signal_name(WTERMSIG(status)) : nullptr;
  return find_error([&](const KnownError& error) {
    return signal != nullptr && error.source == ErrorSource::exit_status && error.text == signal;
  });
}

} // namespace

const KnownError* find_known_error(const RankFailure& failure) {
  if (!failure.gpu_fault.empty()) return &known_error("gpu-fault");
  const auto* printed = find_printed_error(failure);
  if (printed != nullptr && printed->of_node) return printed;
  if (failure.out_of_memory && (printed == nullptr || WIFSIGNALED(failure.status)))
    return &known_error("rank-out-of-memory");
  if (printed != nullptr || failure.cut_short) return printed;
  return find_end(failure.status);
}

std::string find_hint(const RankFailure& failure) {
  const auto* error = find_known_error(failure);
  return error == nullptr ? "" : hint_for(*error, failure.host);
}

std::string find_node_fault(const RankFailure& failure) {
  const auto* error = failure.of_launcher ? nullptr : find_known_error(failure);
  if (error == nullptr || !error->of_node) return {};
  return failure.gpu_fault.empty() ? std::string(error->text) : failure.gpu_fault;
}

model::FailureClass class_of(const RankFailure& failure) {
  if (failure.of_launcher) return model::FailureClass::launcher;
  const auto* error = find_known_error(failure);
  return error == nullptr ? model::FailureClass::program : error->failure_class;
}

} // namespace hpcml::failures
