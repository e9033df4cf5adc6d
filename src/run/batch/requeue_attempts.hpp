// SPDX-License-Identifier: MIT
// Requeues a job: asks Slurm's controller until it answers.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/slurm/commands.hpp"
#include "core/util/env_snapshot.hpp"
#include "run/batch/batch_decision.hpp"
#include "run/batch/batch_job.hpp"
#include "run/batch/batch_request.hpp"

namespace hpcml::batch {

class RequeueAttempts {
public:
  using Clock = std::chrono::steady_clock;

  /// Keeps a copy of the job's script for the job that takes over, and a record for `submit --continue`.
  void keep_script(const BatchRequest& request, const BatchJob& job, const util::EnvSnapshot& env);
  /// Removes them, because the job's work is complete.
  void forget_script(const BatchJob& job, const util::EnvSnapshot& env);

  /// Asks once. Returns whether Slurm accepted, refused, or is asked again.
  Event attempt(const BatchRequest& request, const BatchJob& job, const slurm::Commands& commands,
                const util::EnvSnapshot& env);
  /// True if Slurm's controller did not answer.
  bool is_waiting() const { return x_retry_at.has_value(); }
  bool is_due(Clock::time_point now) const { return x_retry_at && now >= *x_retry_at; }

private:
  std::string x_kept_script; ///< path of a copy of the script; empty: none
  std::optional<Clock::time_point> x_retry_at;
};

} // namespace hpcml::batch
