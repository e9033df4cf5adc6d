// SPDX-License-Identifier: MIT
// What the batch side of a job does at which event: when the ranks are asked to save, when the job is
// requeued, when its script starts again. Pure: time, Slurm and processes arrive as events.
#pragma once

#include <string>
#include <vector>

#include "core/model/retry_classes.hpp"

namespace hpcml::batch {

/// What is known of a job before its script starts.
struct JobStartFacts {
  std::string job;                 ///< as Slurm's commands take it: "4711", of an array "4711_3"
  bool saves = false;              ///< the ranks are asked to save before the job ends
  std::string lead_time;           ///< how long before the time limit, for messages: "00:10:00"
  bool requeues = false;           ///< the job is requeued after it has saved, and after the failures below
  unsigned max_restarts = 0;       ///< limit of `restarts`
  unsigned restarts = 0;           ///< how often the job has started again before this start
  model::RetryClasses requeue_on;  ///< failures after which the job is requeued
  bool has_spare_nodes = false;    ///< the program runs on some of the job's nodes, which are chosen first
  std::string continued_by;        ///< the job that has taken over the work of this one; empty: none
  bool starts_on_bad_node = false; ///< one of its nodes was found faulty before
};

enum class EventKind {
  started,        ///< the batch process is ready
  nodes_chosen,   ///< `is_true`: enough healthy nodes; `text`: the nodes
  limit_near,     ///< the lead time before the time limit has begun
  save_time_over, ///< what is left until the limit is needed for the requeue
  job_ending,     ///< SIGTERM: Slurm ends the job
  steps_ended,    ///< no step of the script runs any more; `is_true`: `code` is the worst exit code of those
                  ///< that ended
  script_ended,   ///< with `code`
  preemption_known, ///< `is_true`: Slurm gives the job's nodes to another job
  cause_known,      ///< `text`: the failure class of the run; empty: unknown
  requeue_delayed,  ///< Slurm's controller does not answer; the requeue is repeated
  requeue_accepted, ///< Slurm has put the job back into the queue
  requeue_refused,  ///< `text`: why
};

struct Event {
  EventKind kind = EventKind::started;
  bool is_true = false;
  int code = 0;
  std::string text = {};
};

enum class ActionKind {
  report,          ///< write `text` to standard error
  choose_nodes,    ///< check the job's nodes; answered by nodes_chosen
  start_script,    ///< start the script's body, on `text` if the job has spare nodes
  ask_to_save,     ///< ask the ranks of all steps to save, and let no shell of the script continue
  end_script,      ///< end the script's shells, which run their EXIT traps
  await_steps,     ///< answered by steps_ended
  read_preemption, ///< answered by preemption_known
  read_cause,      ///< answered by cause_known
  count_restart,   ///< a start on other nodes of the same job counts as one of its restarts
  requeue,         ///< repeated until Slurm answers; answered by requeue_accepted or requeue_refused
  end,             ///< the batch process ends with `code`
};

struct Action {
  ActionKind kind = ActionKind::report;
  std::string text = {};
  int code = 0;
  bool operator==(const Action&) const = default;
};

/// Where a job is between its start and its end.
enum class Phase {
  starting,
  running,        ///< the script's body runs
  saving,         ///< the ranks were asked to save: the time limit is near
  ending,         ///< Slurm ends the job; the ranks save
  asking,         ///< the body has ended, and Slurm or the run's record is asked why
  choosing,       ///< after the loss of a node: other nodes of the job are checked
  requeuing,      ///< Slurm is asked to requeue the job
  awaiting_slurm, ///< preempted with a grace time: Slurm requeues the job itself
  ended,
};

struct BatchState {
  JobStartFacts facts;
  Phase phase = Phase::starting;
  int code = 0;               ///< of the body, or the worst of the steps that saved
  std::string run_nodes = {}; ///< of a job with spare nodes those that run the program
  std::string failure = {};   ///< class of the failure that is being handled
  bool owes_request = false;  ///< SIGTERM came: the ranks are asked to save once a requeue has been tried
  bool script_runs = false;   ///< the script's body has started and not ended
  bool awaits_steps = false;  ///< after a request to save or SIGTERM: the end of the steps is waited for
  bool steps_ended = false;   ///< no step runs any more
  bool has_step_code = false; ///< `code` is that of the steps
  bool job_ends = false;      ///< SIGTERM has come
  bool awaits_preemption_time = false; ///< after SIGTERM: Slurm is asked whether the job is preempted
};

/// The next actions, in order; `state` is changed to what holds after them. Events that mean nothing in a
/// phase give none.
std::vector<Action> decide(BatchState& state, const Event& event);

} // namespace hpcml::batch
