// SPDX-License-Identifier: MIT
// The batch side of a job: runs the script's body as its child, and does what batch_decision.hpp decides.
#pragma once

#include <chrono>
#include <ctime>
#include <deque>
#include <set>
#include <string>
#include <sys/types.h>

#include "core/slurm/commands.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/batch/background_command.hpp"
#include "run/batch/batch_decision.hpp"
#include "run/batch/batch_job.hpp"
#include "run/batch/batch_request.hpp"

namespace hpcml::batch {

/// Pause before a question is repeated that Slurm's controller has not answered.
inline constexpr std::chrono::seconds k_retry_interval(3);

class BatchProcess {
public:
  /// `hpcml`: path of this program, which checks spare nodes.
  BatchProcess(BatchRequest request, BatchJob job, util::EnvSnapshot env, std::string hpcml);
  ~BatchProcess();
  BatchProcess(const BatchProcess&) = delete;
  BatchProcess& operator=(const BatchProcess&) = delete;

  /// Runs the script to its end. Returns the exit code of the job. Errors if the job cannot be set up:
  /// nothing has been started then.
  util::Result<int> run();

private:
  using Clock = std::chrono::steady_clock;

  util::Status set_up();
  JobStartFacts read_facts() const;
  void perform(const Action& action);
  void start_script(const std::string& nodes);
  void ask_to_save();
  void end_script();
  void requeue();
  void end_job();
  void remove_node_files();
  void forbid_requeue() const;
  bool read_preemption() const;
  std::string read_cause() const;
  std::size_t count_bad_nodes() const;

  void wait_for_events();
  void read_signals();
  void take_ended_script();
  void look_at_steps();
  void signal_steps(const std::vector<pid_t>& steps);
  void watch_time_limit();
  void take_end_time();
  int next_timeout() const;

  BatchRequest x_request;
  BatchJob x_job;
  util::EnvSnapshot x_env;    ///< of this process
  util::EnvSnapshot x_script; ///< of the script's body
  std::string x_hpcml;
  slurm::LiveCommands x_commands;
  BatchState x_state;
  std::deque<Event> x_events;
  int x_signals = -1; ///< signalfd
  int x_code = 0;
  bool x_is_over = false;

  pid_t x_script_pid = 0;
  std::string x_kept_script;     ///< path of a copy of the script; empty: none
  bool x_has_node_files = false; ///< the script may have put files on the nodes' own disks
  std::size_t x_bad_nodes = 0;   ///< lines in the file of bad nodes when the script started
  bool x_awaits_steps = false;
  bool x_holds_script = false; ///< its shells are stopped, and new steps are signalled as well
  std::set<pid_t> x_signalled;
  bool x_repeats_signal = false; ///< Slurm's controller was not reached for a signal to the steps
  bool x_retries_requeue = false;
  Clock::time_point x_next_try, x_kill_time = Clock::time_point::max();

  std::time_t x_end_time = 0; ///< time limit of the job; 0: unknown
  std::time_t x_saving_since = 0;
  Clock::time_point x_next_question;
  BackgroundCommand x_question;
};

} // namespace hpcml::batch
