// SPDX-License-Identifier: MIT
// The batch side of a job: runs the script's body as its child, and does what batch_decision.hpp decides.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "core/slurm/commands.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/batch/batch_decision.hpp"
#include "run/batch/batch_job.hpp"
#include "run/batch/batch_request.hpp"
#include "run/batch/job_script.hpp"
#include "run/batch/requeue_attempts.hpp"
#include "run/batch/step_control.hpp"
#include "run/batch/time_limit_watch.hpp"

namespace hpcml::batch {

class BatchProcess {
public:
  BatchProcess(BatchRequest request, BatchJob job, util::EnvSnapshot env);
  ~BatchProcess();
  BatchProcess(const BatchProcess&) = delete;
  BatchProcess& operator=(const BatchProcess&) = delete;

  /// Runs the script to its end. Returns the exit code of the job. Errors if the job cannot be set up:
  /// nothing has been started then.
  util::Result<int> run();

private:
  util::Status set_up();
  JobStartFacts read_facts() const;
  void perform(const Action& action);
  void start_script(const std::string& nodes);
  void count_restart(const std::string& line);
  void requeue();
  void end_job(int code);
  void forbid_requeue() const;
  std::string read_cause() const;
  std::size_t count_bad_nodes() const;

  void wait_for_events();
  void read_signals();
  void look_at_steps();
  int next_timeout() const;

  BatchRequest x_request;
  BatchJob x_job;
  util::EnvSnapshot x_env; ///< of this process
  slurm::LiveCommands x_commands;
  BatchState x_state;
  std::deque<Event> x_events;
  int x_signals = -1;        ///< signalfd
  std::optional<int> x_code; ///< of the job, once it is over
  JobScript x_script;
  StepControl x_steps;
  RequeueAttempts x_requeue;
  TimeLimitWatch x_limit;
};

} // namespace hpcml::batch
