// SPDX-License-Identifier: MIT
// Why the ranks of an attempt are stopped: the first failure, which later ones may replace until it is
// reported, or another reason. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/util/process.hpp"
#include "run/agent/agent_protocol.hpp"
#include "run/agent/failure_order.hpp"

namespace hpcml::agent {

class StopCause {
public:
  /// An attempt begins. The code remains until there is another cause.
  void clear() { *this = StopCause(x_code); }

  /// The first failure of the attempt. Its report waits if it may be the consequence of another one.
  void set_failure(failures::RankFailure failure) {
    x_code = util::exit_code_of_status(failure.status);
    x_is_reported = !may_be_secondary(failure);
    x_failure = std::move(failure);
  }
  /// A later failure replaces the first one if it is the cause. True if none can precede it, so that it is to
  /// be reported.
  bool add_failure(const failures::RankFailure& later) {
    if (x_is_reported || !precedes(later, *x_failure)) return false;
    if (!later.cut_short) x_code = util::exit_code_of_status(later.status);
    x_failure = later;
    return !may_be_secondary(later);
  }
  bool is_reported() const { return x_is_reported; }
  void set_reported() { x_is_reported = true; }
  /// A failure that was reported is not why a run ends that ends later.
  void forget_failure() { x_failure.reset(); }

  void set_code(int code) { x_code = code; }
  void set_reason(std::string reason) { x_reason = std::move(reason); }
  void add_stacks(std::vector<MainThreadStack> stacks) { x_stacks.push_back(std::move(stacks)); }

  bool has_failure() const { return x_failure.has_value(); }
  int code() const { return x_code; }
  const std::string& reason() const { return x_reason; }
  const auto& stacks() const { return x_stacks; }
  StopReason stop_reason() const { return {.failure = x_failure, .reason = x_reason, .code = x_code}; }

  StopCause() = default;

private:
  explicit StopCause(int code) : x_code(code) {}

  std::optional<failures::RankFailure> x_failure;
  bool x_is_reported = true;
  int x_code = 0;                                     ///< the run's, if it ends
  std::string x_reason;                               ///< if no rank has failed
  std::vector<std::vector<MainThreadStack>> x_stacks; ///< of ranks that stalled, by their agents
};

} // namespace hpcml::agent
