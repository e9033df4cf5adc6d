// SPDX-License-Identifier: MIT
// The steps of a job whose ranks are asked to save: signals them, keeps the shells of the script stopped, and
// sees when they have ended.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/slurm/commands.hpp"
#include "core/util/env_snapshot.hpp"
#include "run/batch/batch_decision.hpp"
#include "run/batch/batch_request.hpp"

namespace hpcml::batch {

/// Pause before a question is repeated that Slurm's controller has not answered.
inline constexpr std::chrono::seconds k_retry_interval(3);

class StepControl {
public:
  StepControl(const BatchRequest& request, std::string job, const util::EnvSnapshot& env,
              const slurm::Commands& commands)
      : x_request(request), x_job(std::move(job)), x_env(env), x_commands(commands) {}

  /// From the next look on all ranks are asked to save, also those of steps that start later, and no shell of
  /// the script continues.
  void ask_to_save() {
    x_holds_script = true;
    x_signalled.clear();
  }
  void release_script() { x_holds_script = false; }
  /// From the next look on the end of all steps is an event, once.
  void await_end() { x_awaits_end = true; }
  /// True if `look` is to be called.
  bool is_active() const { return x_awaits_end || x_holds_script; }
  /// `script`: the script's main shell; 0: it has ended.
  std::optional<Event> look(pid_t script);

private:
  using Clock = std::chrono::steady_clock;

  void signal_steps(const std::vector<pid_t>& steps);

  const BatchRequest& x_request;
  std::string x_job;
  const util::EnvSnapshot& x_env;
  const slurm::Commands& x_commands;
  bool x_awaits_end = false;
  bool x_holds_script = false;
  std::set<pid_t> x_signalled;
  std::optional<Clock::time_point> x_repeat_at; ///< Slurm's controller was not reached for a signal
};

} // namespace hpcml::batch
