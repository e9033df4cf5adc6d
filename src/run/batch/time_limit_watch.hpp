// SPDX-License-Identifier: MIT
// When the ranks of a job are to save: reads the job's end from Slurm's controller, which a user may change.
#pragma once

#include <chrono>
#include <ctime>
#include <optional>
#include <string>

#include "core/util/env_snapshot.hpp"
#include "run/batch/background_command.hpp"
#include "run/batch/batch_decision.hpp"

namespace hpcml::batch {

class TimeLimitWatch {
public:
  /// `lead`: how long before the limit the ranks save; 0: no time is watched. `end`: of the job; 0: unknown.
  TimeLimitWatch(std::chrono::seconds lead, std::time_t end) : x_lead(lead), x_end(end) {}

  bool is_on() const { return x_lead.count() > 0; }
  /// While the script runs, asks Slurm's controller once a minute, in the background, and reads its answer.
  void refresh(const std::string& job, const util::EnvSnapshot& env, Phase phase);
  bool is_asking() const { return x_question.is_running(); }
  /// The descriptor of the answer; -1: none is expected.
  int descriptor() const { return x_question.descriptor(); }
  void stop() { x_question.stop(); }

  /// The ranks were asked to save.
  void note_saving(std::time_t now) { x_saving_since = now; }
  bool is_saving() const { return x_saving_since != 0; }
  /// Returns the event of the time, if there is one in this phase.
  std::optional<EventKind> event_at(std::time_t now, Phase phase) const;

private:
  std::chrono::seconds x_lead;
  std::time_t x_end = 0;
  std::time_t x_saving_since = 0; ///< 0: not yet
  BackgroundCommand x_question;
  std::chrono::steady_clock::time_point x_next_question{};
};

} // namespace hpcml::batch
