// SPDX-License-Identifier: MIT
// What decide may never do, after events drawn by chance: those that a job can have, and any others.
#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "random_numbers.hpp"
#include "run/batch/decision_helper.hpp"
#include "samples.hpp"

using namespace hpcml;
using namespace hpcml::batch;
using namespace hpcml::testing;
using test::chance;
using test::pick;

namespace {

const std::vector<std::string> k_failures = {"program",  "out-of-memory", "time-limit", "preempted", "node",
                                             "launcher", "user",          "terminated", ""};

JobStartFacts draw_facts(std::mt19937& random) {
  auto facts = make_facts();
  facts.saves = chance(random, 70);
  facts.requeues = chance(random, 80);
  facts.max_restarts = pick(random, 0, 3);
  facts.restarts = pick(random, 0, 4);
  facts.has_spare_nodes = chance(random, 40);
  facts.starts_on_bad_node = chance(random, 20);
  if (chance(random, 3)) facts.continued_by = "71";
  std::string classes;
  for (const char* name : {"node", "preempted", "launcher", "time-limit"})
    if (chance(random, 50)) classes += (classes.empty() ? "" : ",") + std::string(name);
  if (!classes.empty()) facts.requeue_on = model::RetryClasses::parse(classes).value();
  return facts;
}

/// A job that decide controls, and the rules that hold for every job.
class Job {
public:
  Job(const JobStartFacts& facts, bool is_faithful)
      : x_facts(facts), x_state{facts}, x_is_faithful(is_faithful) {}

  void handle(const Event& event) {
    x_events += " " + std::to_string(static_cast<int>(event.kind)) + (event.is_true ? "y" : "") + event.text;
    if (event.kind == EventKind::script_ended) x_script_runs = false;
    if (event.kind == EventKind::steps_ended && x_awaits_steps) x_awaits_steps = x_steps_run = false;
    if (event.kind == EventKind::job_ending) x_slurm_ends_it = true;
    if (event.kind == EventKind::requeue_accepted && x_is_requeuing) x_is_requeued = true;
    if (event.kind == EventKind::requeue_accepted || event.kind == EventKind::requeue_refused)
      x_is_requeuing = false;
    if (event.kind == EventKind::cause_known) x_failure = event.text;
    for (const auto& action : decide(x_state, event)) check(action);
  }

  bool has_ended() const { return x_ends > 0; }
  bool script_runs() const { return x_script_runs; }
  bool awaits_steps() const { return x_awaits_steps; }
  bool is_requeuing() const { return x_is_requeuing; }
  bool must_end_script() const { return x_must_end_script; }
  std::deque<ActionKind>& questions() { return x_questions; }
  const std::string& events() const { return x_events; }

private:
  void check(const Action& action) {
    INFO("at the last of the events" << x_events);
    REQUIRE(x_ends == 0);
    switch (action.kind) {
    case ActionKind::start_script: return check_start();
    case ActionKind::ask_to_save:
      // Steps outlive a script that SIGTERM has ended.
      REQUIRE((x_steps_run || !x_is_faithful));
      REQUIRE((x_facts.saves && !std::exchange(x_has_requested, true)));
      break;
    case ActionKind::end_script:
      REQUIRE(x_script_runs);
      x_must_end_script = true;
      break;
    case ActionKind::await_steps: x_awaits_steps = true; break;
    case ActionKind::count_restart: ++x_starts_again; break;
    case ActionKind::requeue: return check_requeue();
    case ActionKind::end: return check_end(action);
    case ActionKind::report: REQUIRE_FALSE(action.text.empty()); break;
    case ActionKind::choose_nodes:
    case ActionKind::read_preemption:
    case ActionKind::read_cause: x_questions.push_back(action.kind); break;
    }
  }

  void check_start() {
    REQUIRE_FALSE(x_script_runs);
    REQUIRE_FALSE(x_slurm_ends_it);
    REQUIRE_FALSE(x_is_requeued);
    REQUIRE(x_facts.restarts + x_starts_again <= std::max(x_facts.restarts, x_facts.max_restarts));
    x_script_runs = x_steps_run = true;
    x_has_requested = x_must_end_script = false;
    x_failure = "none";
  }

  void check_requeue() {
    REQUIRE(x_facts.requeues);
    REQUIRE_FALSE(x_is_requeuing);
    REQUIRE_FALSE(x_is_requeued);
    REQUIRE(x_facts.restarts + x_starts_again < x_facts.max_restarts);
    if (x_is_faithful) REQUIRE(x_failure != "program");
    x_is_requeuing = true;
  }

  void check_end(const Action& action) {
    ++x_ends;
    REQUIRE((action.code >= 0 && action.code < 256));
    if (!x_is_faithful) return; // of events that no job has, some announce an end that is none
    REQUIRE_FALSE(x_script_runs);
    REQUIRE_FALSE(x_awaits_steps);
    REQUIRE_FALSE(x_is_requeuing);
    REQUIRE(x_questions.empty());
  }

  JobStartFacts x_facts;
  BatchState x_state;
  bool x_is_faithful;
  std::deque<ActionKind> x_questions;
  bool x_script_runs = false, x_steps_run = false, x_awaits_steps = false, x_must_end_script = false;
  bool x_has_requested = false, x_is_requeuing = false, x_is_requeued = false, x_slurm_ends_it = false;
  unsigned x_starts_again = 0, x_ends = 0;
  std::string x_failure = "none", x_events;
};

Event draw_answer(std::mt19937& random, ActionKind question) {
  if (question == ActionKind::read_preemption)
    return chance(random, 40) ? hpcml::testing::k_preempted : k_not_preempted;
  if (question == ActionKind::read_cause)
    return cause(k_failures[pick(random, 0, static_cast<unsigned>(k_failures.size() - 1))]);
  return chance(random, 20) ? k_too_few_nodes : nodes_chosen("n" + std::to_string(pick(random, 1, 3)));
}

Event draw_steps_ended(std::mt19937& random) {
  return chance(random, 60) ? steps_ended(static_cast<int>(pick(random, 0, 2))) : k_no_step;
}

Event draw_script_ended(std::mt19937& random) {
  return script_ended(chance(random, 30) ? 143 : static_cast<int>(pick(random, 0, 2)));
}

/// One that may come next in a job; questions are answered in their order.
Event draw_event(std::mt19937& random, Job& job) {
  if (!job.questions().empty() && chance(random, 60)) {
    const auto question = job.questions().front();
    job.questions().pop_front();
    return draw_answer(random, question);
  }
  if (job.is_requeuing() && chance(random, 30))
    return chance(random, 30) ? k_delayed : chance(random, 70) ? k_accepted : k_refused;
  if (job.awaits_steps() && chance(random, 30)) return draw_steps_ended(random);
  if (job.script_runs() && chance(random, job.must_end_script() ? 60 : 20)) return draw_script_ended(random);
  const auto kind = pick(random, 0, 9);
  return kind == 0 ? k_job_ending : kind < 4 ? k_save_time_over : k_limit_near;
}

/// What brings every job to its end.
Event draw_last_event(std::mt19937& random, Job& job) {
  if (!job.questions().empty()) {
    const auto question = job.questions().front();
    job.questions().pop_front();
    return draw_answer(random, question);
  }
  if (job.is_requeuing()) return chance(random, 50) ? k_accepted : k_refused;
  if (job.awaits_steps()) return draw_steps_ended(random);
  return job.script_runs() ? draw_script_ended(random) : k_job_ending;
}

Event draw_any_event(std::mt19937& random) {
  const std::vector<Event> events = {
      k_started,          k_delayed,          k_limit_near,    k_save_time_over,
      k_job_ending,       k_accepted,         k_refused,       k_too_few_nodes,
      nodes_chosen("n1"), nodes_chosen("n2"), k_no_step,       steps_ended(1),
      script_ended(0),    script_ended(1),    k_not_preempted, hpcml::testing::k_preempted,
      cause("node"),      cause("program")};
  return events[pick(random, 0, static_cast<unsigned>(events.size() - 1))];
}

} // namespace

TEST_CASE("decide keeps its rules and ends after random events") {
  std::mt19937 random(20261201);
  for (unsigned round = 0; round < test::sampled(40'000); ++round) {
    Job job(draw_facts(random), true);
    job.handle(k_started);
    for (int count = 0; count < 30 && !job.has_ended(); ++count) job.handle(draw_event(random, job));
    for (int count = 0; count < 60 && !job.has_ended(); ++count) job.handle(draw_last_event(random, job));
    INFO("events" << job.events());
    REQUIRE(job.has_ended());
    for (int count = 0; count < 5; ++count) job.handle(draw_any_event(random));
  }
}

TEST_CASE("decide keeps its rules after events no job has") {
  std::mt19937 random(20261202);
  for (unsigned round = 0; round < test::sampled(20'000); ++round) {
    Job job(draw_facts(random), false);
    job.handle(k_started);
    for (int count = 0; count < 40; ++count) job.handle(draw_any_event(random));
  }
}
