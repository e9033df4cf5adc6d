// SPDX-License-Identifier: MIT
#include "run/batch/batch_decision.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace hpcml::batch {

namespace {

using Actions = std::vector<Action>;

Action report(std::string text) { return {ActionKind::report, std::move(text)}; }

Actions end_with_code(BatchState& state, int code, Actions before = {}) {
  state.phase = Phase::ended;
  before.push_back({ActionKind::end, {}, code});
  return before;
}

bool requeues_after(const BatchState& state, model::FailureClass why) {
  const auto& words = state.facts.requeue_on.words();
  return state.facts.requeues && std::find(words.begin(), words.end(), model::word_of(why)) != words.end();
}

constexpr const char* k_ends_job = "Slurm ends the job: asking the ranks to save and exit";

bool work_runs(const BatchState& state) {
  return state.script_runs || (state.awaits_steps && !state.steps_ended);
}

/// Ends with `code`, or with that of the steps if they and the script still run: these are waited for.
Actions end_after_work(BatchState& state, int code, Actions before) {
  if (!work_runs(state)) return end_with_code(state, code, std::move(before));
  state.phase = Phase::ending;
  if (std::exchange(state.owes_request, false) && !state.steps_ended) {
    before.push_back(report(k_ends_job));
    before.push_back({ActionKind::ask_to_save});
  }
  if (!state.steps_ended) before.push_back({ActionKind::await_steps});
  return before;
}

/// Requeues the job unless it has been restarted as often as it may be; either way it ends with `code`.
Actions requeue(BatchState& state, const std::string& reason, int code, Actions before = {}) {
  const auto& facts = state.facts;
  state.code = code;
  if (facts.restarts >= facts.max_restarts) {
    before.push_back(report(fmt::format("{}: job {} reached its limit of {} restarts (--max-requeues)\n"
                                        "hint: run hpcml submit --continue {} to continue it",
                                        reason, facts.job, facts.max_restarts, facts.job)));
    return end_after_work(state, code, std::move(before));
  }
  state.phase = Phase::requeuing;
  before.push_back(report(fmt::format("{}: requeuing job {}, which starts again (restart {} of at most {})",
                                      reason, facts.job, facts.restarts + 1, facts.max_restarts)));
  before.push_back({ActionKind::requeue});
  return before;
}

constexpr const char* k_preempted = "preempted by another job";
constexpr int k_terminated = 128 + 15; ///< exit code of what SIGTERM ends

Actions start_script(BatchState& state, Actions before = {}) {
  state.phase = Phase::running;
  state.script_runs = true;
  state.awaits_steps = state.steps_ended = state.has_step_code = false;
  before.push_back({ActionKind::start_script, state.run_nodes});
  return before;
}

Actions choose_or_start(BatchState& state, Actions before = {}) {
  if (!state.facts.has_spare_nodes) return start_script(state, std::move(before));
  state.phase = Phase::starting;
  before.push_back({ActionKind::choose_nodes});
  return before;
}

Actions on_started(BatchState& state) {
  if (state.phase != Phase::starting) return {};
  const auto& facts = state.facts;
  if (!facts.continued_by.empty())
    return end_with_code(
        state, 0,
        {report(fmt::format("job {} has replaced this job ({}), which therefore starts nothing "
                            "and exits with 0",
                            facts.continued_by, facts.job))});
  if (facts.starts_on_bad_node && facts.requeues && facts.restarts < facts.max_restarts)
    return requeue(state, "the job started on a node that was found faulty", 0);
  return choose_or_start(state);
}

/// After a failure that no other node of the job can help with.
Actions give_up_or_requeue(BatchState& state) {
  const auto known = model::find_word<model::FailureClass>(state.failure);
  if (known && requeues_after(state, *known))
    return requeue(state, fmt::format("the run failed ({})", state.failure), state.code);
  return end_with_code(state, state.code);
}

/// SIGTERM has come: Slurm kills this process once the steps have ended. A site that cancels what it preempts
/// does not requeue it.
Actions end_with_job(BatchState& state) {
  state.phase = Phase::ending;
  state.awaits_preemption_time = requeues_after(state, model::FailureClass::preempted);
  if (state.awaits_preemption_time) return {{ActionKind::read_preemption}};
  return end_after_work(state, state.code, {});
}

Actions on_nodes_chosen(BatchState& state, const Event& event) {
  const bool is_choosing = state.phase == Phase::starting || state.phase == Phase::choosing;
  if (is_choosing && state.job_ends) {
    if (state.phase == Phase::starting) state.code = k_terminated;
    return end_with_job(state);
  }
  if (state.phase == Phase::starting) {
    if (!event.is_true) {
      if (state.facts.requeues) return requeue(state, "too few nodes of the job are healthy", 1);
      return end_with_code(state, 1);
    }
    state.run_nodes = event.text;
    return start_script(state);
  }
  if (state.phase != Phase::choosing) return {};
  if (!event.is_true || event.text == state.run_nodes) return give_up_or_requeue(state);
  state.run_nodes = event.text;
  ++state.facts.restarts;
  return start_script(
      state, {report(fmt::format("the run failed (cause: {}): restarting it on healthy nodes of this job "
                                 "(restart {} of at most {})",
                                 state.failure, state.facts.restarts, state.facts.max_restarts)),
              {ActionKind::count_restart, event.text}});
}

Actions on_limit_near(BatchState& state) {
  if (!state.facts.saves || state.phase != Phase::running) return {};
  state.phase = Phase::saving;
  state.awaits_steps = true;
  return {report(fmt::format("{} left until the time limit: asking the ranks to save and exit",
                             state.facts.lead_time)),
          {ActionKind::ask_to_save},
          {ActionKind::await_steps}};
}

Actions on_job_ending(BatchState& state) {
  state.job_ends = true;
  if (state.phase == Phase::awaiting_slurm) return end_with_code(state, state.code);
  if (state.phase != Phase::running && state.phase != Phase::saving) return {};
  state.owes_request = state.facts.saves && state.phase == Phase::running;
  state.awaits_steps = true;
  return end_with_job(state);
}

/// Once neither the script nor a step of it runs.
Actions finish(BatchState& state) {
  if (state.phase == Phase::saving && state.facts.requeues)
    return requeue(state, "saved before the time limit", state.code);
  if (state.awaits_preemption_time) return {}; // the answer decides
  return end_with_code(state, state.code);
}

bool is_ending(const BatchState& state) {
  return state.phase == Phase::saving || state.phase == Phase::ending;
}

Actions on_steps_ended(BatchState& state, const Event& event) {
  if (!is_ending(state) || state.steps_ended) return {};
  state.steps_ended = true;
  // Of a script that Slurm's SIGTERM has ended the steps' code counts.
  const bool ended_by_itself = !state.script_runs && state.code != k_terminated;
  if (event.is_true && !ended_by_itself) {
    state.code = event.code;
    state.has_step_code = true;
  }
  if (!state.script_runs) return finish(state);
  // What follows in the script is repeated by the next start.
  return {{ActionKind::end_script}};
}

Actions on_script_ended(BatchState& state, const Event& event) {
  state.script_runs = false;
  if (is_ending(state)) {
    if (!state.has_step_code) state.code = event.code;
    if (state.steps_ended) return finish(state);
    return {};
  }
  if (state.phase != Phase::running) return {};
  state.code = event.code;
  if (!state.facts.requeues) return end_with_code(state, state.code);
  state.phase = Phase::asking;
  return {{ActionKind::read_preemption}};
}

/// The ranks have only until Slurm kills them.
Actions on_requeue_delayed(BatchState& state) {
  if (state.phase != Phase::requeuing || !std::exchange(state.owes_request, false)) return {};
  return {report(k_ends_job), {ActionKind::ask_to_save}};
}

/// Slurm ends what still runs, which saves meanwhile: it is waited for.
Actions on_requeue_accepted(BatchState& state) {
  if (state.phase != Phase::requeuing) return {};
  return end_after_work(state, state.code, {});
}

Actions on_preemption_known(BatchState& state, const Event& event) {
  const bool again = requeues_after(state, model::FailureClass::preempted);
  if (std::exchange(state.awaits_preemption_time, false)) {
    if (event.is_true) return requeue(state, k_preempted, work_runs(state) ? k_terminated : state.code);
    return end_after_work(state, state.code, {});
  }
  if (state.phase != Phase::asking) return {};
  if (event.is_true && again) return requeue(state, k_preempted, state.code);
  if (event.is_true && state.job_ends) return end_with_code(state, state.code);
  if (event.is_true) {
    state.phase = Phase::awaiting_slurm;
    return {report(fmt::format(
        "preempted by another job: job {} waits for Slurm, which requeues it if the site is configured to\n"
        "hint: add preempted to --requeue-on, so that hpcml requeues such jobs",
        state.facts.job))};
  }
  if (state.code == 0) return end_with_code(state, 0);
  return {{ActionKind::read_cause}};
}

Actions on_cause_known(BatchState& state, const Event& event) {
  if (state.phase != Phase::asking) return {};
  state.failure = event.text;
  const bool by_node = state.failure == model::word_of(model::FailureClass::node);
  if (by_node && state.facts.has_spare_nodes && requeues_after(state, model::FailureClass::node) &&
      state.facts.restarts < state.facts.max_restarts) {
    state.phase = Phase::choosing;
    return {{ActionKind::choose_nodes}};
  }
  return give_up_or_requeue(state);
}

Actions on_save_time_over(BatchState& state) {
  if (state.phase != Phase::saving || !state.facts.requeues) return {};
  const bool knows_code = state.has_step_code || !state.script_runs;
  return requeue(state, "the ranks did not exit in time", knows_code ? state.code : 1);
}

Actions on_requeue_refused(BatchState& state, const Event& event) {
  if (state.phase != Phase::requeuing) return {};
  const auto& facts = state.facts;
  // Nothing has run yet: the node may be healthy by now.
  if (std::exchange(state.facts.starts_on_bad_node, false) && !state.job_ends)
    return choose_or_start(
        state,
        {report(fmt::format("Slurm does not requeue job {0}: {1}; it starts on its present nodes, of which "
                            "one was found faulty\n"
                            "hint: run scancel {0} if it fails, and submit it again with --exclude",
                            facts.job, event.text))});
  return end_after_work(state, state.code,
                        {report(fmt::format("Slurm does not requeue job {0}: {1}\n"
                                            "hint: run hpcml submit --continue {0} to continue it",
                                            facts.job, event.text))});
}

} // namespace

std::vector<Action> decide(BatchState& state, const Event& event) {
  switch (event.kind) {
  case EventKind::started: return on_started(state);
  case EventKind::nodes_chosen: return on_nodes_chosen(state, event);
  case EventKind::limit_near: return on_limit_near(state);
  case EventKind::save_time_over: return on_save_time_over(state);
  case EventKind::job_ending: return on_job_ending(state);
  case EventKind::steps_ended: return on_steps_ended(state, event);
  case EventKind::script_ended: return on_script_ended(state, event);
  case EventKind::preemption_known: return on_preemption_known(state, event);
  case EventKind::cause_known: return on_cause_known(state, event);
  case EventKind::requeue_delayed: return on_requeue_delayed(state);
  case EventKind::requeue_accepted: return on_requeue_accepted(state);
  case EventKind::requeue_refused: return on_requeue_refused(state, event);
  }
  return {};
}

} // namespace hpcml::batch
