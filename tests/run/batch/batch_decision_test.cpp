// SPDX-License-Identifier: MIT
// The batch side of each fault that docs/development/fault-matrix.md lists, as events and the actions that
// follow.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "holds.hpp"
#include "run/batch/decision_helper.hpp"

using namespace hpcml;
using namespace hpcml::batch;
using namespace hpcml::testing;
using test::holds;

namespace {

struct Scenario {
  const char* name;
  JobStartFacts facts;
  std::vector<Event> events;
  std::string actions; ///< after start_script, which `started` gives
};

JobStartFacts without_requeue() {
  auto facts = make_facts();
  facts.requeues = false;
  return facts;
}

JobStartFacts without_saving(JobStartFacts facts) {
  facts.saves = false;
  return facts;
}

JobStartFacts restarted(JobStartFacts facts, unsigned restarts) {
  facts.restarts = restarts;
  return facts;
}

JobStartFacts with_spare_nodes(JobStartFacts facts) {
  facts.has_spare_nodes = true;
  return facts;
}

JobStartFacts on_bad_node(JobStartFacts facts) {
  facts.starts_on_bad_node = true;
  return facts;
}

/// Each scenario starts its script first.
void check_running(const std::vector<Scenario>& scenarios) {
  for (const auto& [name, facts, events, actions] : scenarios) {
    INFO(name);
    BatchState state{facts};
    CHECK(actions_at(state, {k_started}) == "start_script");
    CHECK(actions_at(state, events) == actions);
  }
}

void check_from_start(const std::vector<Scenario>& scenarios) {
  for (const auto& [name, facts, events, actions] : scenarios) {
    INFO(name);
    BatchState state{facts};
    const auto first = actions_at(state, {k_started});
    CHECK(first + ": " + actions_at(state, events) == actions);
  }
}

const std::string k_saves = "ask_to_save, await_steps";

} // namespace

TEST_CASE("decide ends the job with the script's exit code") {
  const auto all = make_facts_after("node,preempted,launcher,time-limit");
  check_running({
      {"nothing is asked of hpcml", {}, {script_ended(0)}, "end 0"},
      {"it fails", {}, {script_ended(3)}, "end 3"},
      {"it saves only", without_requeue(), {script_ended(3)}, "end 3"},
      {"success", make_facts(), {script_ended(0), k_not_preempted}, "read_preemption, end 0"},
      {"success, requeued after everything",
       all,
       {script_ended(0), k_not_preempted},
       "read_preemption, end 0"},
      {"SIGSEGV",
       make_facts(),
       {script_ended(139), k_not_preempted, cause("program")},
       "read_preemption, read_cause, end 139"},
  });
}

TEST_CASE("decide saves before the time limit and requeues the job") {
  const auto facts = make_facts();
  check_running({
      {"ranks save",
       facts,
       {k_limit_near, steps_ended(0), script_ended(143), k_accepted},
       k_saves + ", end_script, requeue, end 0"},
      {"ranks fail while they save",
       facts,
       {k_limit_near, steps_ended(7), script_ended(143), k_accepted},
       k_saves + ", end_script, requeue, end 7"},
      {"the script ends by itself first",
       facts,
       {k_limit_near, script_ended(4), k_no_step, k_accepted},
       k_saves + ", requeue, end 4"},
      {"no step runs",
       facts,
       {k_limit_near, k_no_step, script_ended(143), k_accepted},
       k_saves + ", end_script, requeue, end 143"},
      {"no requeue",
       without_requeue(),
       {k_limit_near, steps_ended(7), script_ended(143)},
       k_saves + ", end_script, end 7"},
      {"no requeue: the limit does not matter", without_requeue(), {k_limit_near, k_save_time_over}, k_saves},
      {"the limit is seen twice", facts, {k_limit_near, k_limit_near}, k_saves},
      {"a job that does not save", without_saving(facts), {k_limit_near, k_save_time_over}, ""},
  });
  BatchState state{facts};
  CHECK(reports_at(state, {k_started, k_limit_near, steps_ended(0), script_ended(143)}) ==
        "00:10:00 left until the time limit: asking the ranks to save and exit\n"
        "saved before the time limit: requeuing job 70, which starts again (restart 1 of at most 2)\n");
}

TEST_CASE("decide does not restart a job more often than allowed") {
  const auto last = restarted(make_facts_after("node,preempted"), 2);
  check_running({
      {"saved", last, {k_limit_near, steps_ended(0), script_ended(143)}, k_saves + ", end_script, end 0"},
      {"lost a node",
       last,
       {script_ended(1), k_not_preempted, cause("node")},
       "read_preemption, read_cause, end 1"},
      {"preempted in its grace time", last, {script_ended(0), k_preempted}, "read_preemption, end 0"},
      {"started more often than that by Slurm",
       restarted(last, 9),
       {script_ended(1), k_not_preempted, cause("node")},
       "read_preemption, read_cause, end 1"},
  });
  BatchState state{last};
  CHECK(reports_at(state, {k_started, k_limit_near, steps_ended(0), script_ended(143)}) ==
        "00:10:00 left until the time limit: asking the ranks to save and exit\n"
        "saved before the time limit: job 70 reached its limit of 2 restarts (--max-requeues)\nhint: run "
        "hpcml submit --continue 70 to continue it\n");
}

TEST_CASE("decide lets ranks save after the last restart") {
  const auto last = restarted(make_facts_after("preempted"), 2);
  check_running({
      {"the time to save is over",
       last,
       {k_limit_near, k_save_time_over, k_save_time_over},
       k_saves + ", await_steps"},
      {"and they end in the time that is left",
       last,
       {k_limit_near, k_save_time_over, steps_ended(0), script_ended(143)},
       k_saves + ", await_steps, end_script, end 0"},
      {"preempted",
       last,
       {k_job_ending, k_preempted, steps_ended(5), script_ended(143)},
       "read_preemption, ask_to_save, await_steps, end_script, end 5"},
  });
}

TEST_CASE("decide requeues the job when saving takes too long") {
  const auto facts = make_facts();
  const auto late = k_saves + ", requeue";
  check_running({
      {"Slurm ends the ranks",
       facts,
       {k_limit_near, k_save_time_over, k_accepted, steps_ended(143), script_ended(143)},
       late + ", await_steps, end_script, end 143"},
      {"SIGTERM follows",
       facts,
       {k_limit_near, k_save_time_over, k_accepted, k_job_ending, k_save_time_over},
       late + ", await_steps"},
      {"refused: the ranks use the time that is left",
       facts,
       {k_limit_near, k_save_time_over, k_refused, steps_ended(0), script_ended(143)},
       late + ", await_steps, end_script, end 0"},
      {"the ranks end while Slurm does not answer",
       facts,
       {k_limit_near, k_save_time_over, steps_ended(0), k_accepted, steps_ended(0), script_ended(143)},
       late + ", await_steps, end_script, end 0"},
      {"only steps in the background run",
       facts,
       {k_limit_near, script_ended(0), k_save_time_over, k_accepted, k_no_step},
       late + ", await_steps, end 0"},
      {"EXIT traps take too long",
       facts,
       {k_limit_near, steps_ended(0), k_save_time_over, k_accepted, script_ended(143)},
       k_saves + ", end_script, requeue, end 0"},
  });
}

TEST_CASE("decide does not requeue a cancelled job") {
  const auto facts = make_facts();
  const auto requests = make_facts_after("preempted,time-limit");
  check_running({
      {"scancel", facts, {k_job_ending, steps_ended(0), script_ended(143)}, k_saves + ", end_script, end 0"},
      {"Slurm has also ended the shell",
       facts,
       {k_job_ending, script_ended(143), steps_ended(3)},
       k_saves + ", end 3"},
      {"and nothing is known of the steps",
       facts,
       {k_job_ending, script_ended(143), k_no_step},
       k_saves + ", end 143"},
      {"the script ends by itself",
       facts,
       {k_job_ending, script_ended(6), steps_ended(3)},
       k_saves + ", end 6"},
      {"scancel, preemption is asked for",
       requests,
       {k_job_ending, k_not_preempted, steps_ended(0), script_ended(143)},
       "read_preemption, ask_to_save, await_steps, end_script, end 0"},
      {"while the ranks save",
       facts,
       {k_limit_near, k_job_ending, steps_ended(0), script_ended(143)},
       k_saves + ", await_steps, end_script, end 0"},
      {"SIGTERM twice", facts, {k_job_ending, k_job_ending}, k_saves},
      {"the job does not save",
       without_saving(facts),
       {k_job_ending, k_no_step, script_ended(143)},
       "await_steps, end_script, end 143"},
      {"neither saves nor requeues", {}, {k_job_ending, script_ended(2), k_no_step}, "await_steps, end 2"},
  });
  BatchState state{facts};
  CHECK(reports_at(state, {k_started, k_job_ending}) ==
        "Slurm ends the job: asking the ranks to save and exit\n");
}

TEST_CASE("decide requeues a preempted job if the site cancels it") {
  const auto facts = make_facts();
  const auto again = make_facts_after("preempted");
  check_running({
      {"PreemptMode=REQUEUE",
       facts,
       {k_job_ending, steps_ended(0), script_ended(143)},
       k_saves + ", end_script, end 0"},
      {"PreemptMode=CANCEL",
       again,
       {k_job_ending, k_preempted, k_accepted, steps_ended(0), script_ended(143)},
       "read_preemption, requeue, ask_to_save, await_steps, end_script, end 0"},
      {"cancelled, refused",
       again,
       {k_job_ending, k_preempted, k_refused, steps_ended(0), script_ended(143)},
       "read_preemption, requeue, ask_to_save, await_steps, end_script, end 0"},
      {"cancelled while slurmctld is down",
       again,
       {k_job_ending, k_preempted, k_delayed, k_delayed},
       "read_preemption, requeue, ask_to_save"},
      {"and answers again",
       again,
       {k_job_ending, k_preempted, k_delayed, k_accepted, steps_ended(0), script_ended(143)},
       "read_preemption, requeue, ask_to_save, await_steps, end_script, end 0"},
      {"cancelled while saving",
       again,
       {k_limit_near, k_job_ending, k_preempted, k_accepted},
       k_saves + ", read_preemption, requeue, await_steps"},
      {"all have ended before the answer",
       again,
       {k_limit_near, k_job_ending, script_ended(143), steps_ended(0), k_preempted, k_accepted},
       k_saves + ", read_preemption, requeue, end 0"},
      {"all have ended, cancelled by the user",
       again,
       {k_limit_near, k_job_ending, script_ended(143), steps_ended(0), k_not_preempted},
       k_saves + ", read_preemption, end 0"},
      {"in the grace time the script ends first",
       facts,
       {script_ended(0), k_preempted, k_job_ending},
       "read_preemption, end 0"},
      {"with its own code", facts, {script_ended(9), k_preempted, k_job_ending}, "read_preemption, end 9"},
      {"SIGTERM comes before the answer",
       facts,
       {script_ended(0), k_job_ending, k_preempted},
       "read_preemption, end 0"},
      {"in the grace time, cancelled",
       again,
       {script_ended(0), k_preempted, k_accepted},
       "read_preemption, requeue, end 0"},
      {"by class of the record",
       again,
       {script_ended(1), k_not_preempted, cause("preempted"), k_accepted},
       "read_preemption, read_cause, requeue, end 1"},
  });
  BatchState state{facts};
  CHECK(holds(
      reports_at(state, {k_started, script_ended(0), k_preempted}),
      "preempted by another job: job 70 waits for Slurm, which requeues it if the site is configured to\n"));
  CHECK(actions_at(state, {k_limit_near, k_save_time_over, k_no_step, cause("node"), k_accepted}) == "");
}

TEST_CASE("decide requeues a job only after the failures named") {
  const std::vector<std::string> classes = {"program", "out-of-memory", "time-limit", "preempted",
                                            "node",    "launcher",      "user",       "terminated"};
  for (const std::string listed :
       {"", "node", "launcher", "time-limit", "node,launcher,time-limit,preempted"}) {
    const auto facts = without_saving(listed.empty() ? make_facts() : make_facts_after(listed));
    for (const auto& failure : classes) {
      INFO(listed << " after " << failure);
      const bool requeues = holds("," + listed + ",", "," + failure + ",");
      BatchState state{facts};
      CHECK(actions_at(state, {k_started, script_ended(1), k_not_preempted, cause(failure), k_accepted}) ==
            std::string("start_script, read_preemption, read_cause, ") + (requeues ? "requeue, " : "") +
                "end 1");
    }
    BatchState state{facts};
    CHECK(actions_at(state, {k_started, script_ended(1), k_not_preempted, cause("")}) ==
          "start_script, read_preemption, read_cause, end 1");
  }
  BatchState state{make_facts_after("node")};
  CHECK(holds(reports_at(state, {k_started, script_ended(1), k_not_preempted, cause("node")}),
              "the run failed (node): requeuing job 70, which starts again (restart 1 of at most 2)\n"));
}

TEST_CASE("decide ends the job with its code if Slurm refuses") {
  check_running({
      {"after saving",
       make_facts(),
       {k_limit_near, steps_ended(0), script_ended(143), k_refused},
       k_saves + ", end_script, requeue, end 0"},
      {"after the loss of a node",
       make_facts_after("node"),
       {script_ended(8), k_not_preempted, cause("node"), k_refused},
       "read_preemption, read_cause, requeue, end 8"},
  });
  BatchState state{make_facts_after("node")};
  CHECK(holds(reports_at(state, {k_started, script_ended(8), k_not_preempted, cause("node"), k_refused}),
              "Slurm does not requeue job 70: Requested operation is disabled\n"
              "hint: run hpcml submit --continue 70 to continue it\n"));
}

TEST_CASE("decide ignores events until Slurm answers a requeue") {
  BatchState state{make_facts()};
  CHECK(actions_at(state, {k_started, k_limit_near, steps_ended(0), script_ended(143)}) ==
        "start_script, " + k_saves + ", end_script, requeue");
  for (int repeat = 0; repeat < 3; ++repeat)
    CHECK(actions_at(state, {k_delayed, k_job_ending, k_limit_near, k_save_time_over, k_no_step}) == "");
  CHECK(actions_at(state, {k_accepted}) == "end 0");
}

TEST_CASE("decide starts the program on healthy nodes") {
  const auto facts = with_spare_nodes(make_facts());
  auto alone = facts;
  alone.requeues = false;
  check_from_start({
      {"enough", facts, {nodes_chosen("n[1-2]")}, "choose_nodes: start_script n[1-2]"},
      {"too few", facts, {k_too_few_nodes, k_accepted}, "choose_nodes: requeue, end 1"},
      {"too few, refused", facts, {k_too_few_nodes, k_refused}, "choose_nodes: requeue, end 1"},
      {"too few, without requeue", alone, {k_too_few_nodes}, "choose_nodes: end 1"},
      {"too few, at the limit", restarted(facts, 2), {k_too_few_nodes}, "choose_nodes: end 1"},
      {"Slurm ends the job meanwhile",
       facts,
       {k_job_ending, nodes_chosen("n[1-2]")},
       "choose_nodes: end 143"},
      {"too few, and Slurm ends the job", facts, {k_job_ending, k_too_few_nodes}, "choose_nodes: end 143"},
      {"preempted meanwhile",
       with_spare_nodes(make_facts_after("preempted")),
       {k_job_ending, nodes_chosen("n[1-2]"), k_preempted, k_accepted},
       "choose_nodes: read_preemption, requeue, end 143"},
  });
}

TEST_CASE("decide starts again on other nodes after losing one") {
  const auto facts = with_spare_nodes(make_facts_after("node"));
  const std::vector<Event> loss = {nodes_chosen("n[1-2]"), script_ended(1), k_not_preempted, cause("node")};
  const auto after_loss = [&](std::vector<Event> more) {
    auto events = loss;
    events.insert(events.end(), more.begin(), more.end());
    return events;
  };
  const std::string begin = "choose_nodes: start_script n[1-2], read_preemption, read_cause, ";
  check_from_start({
      {"others", facts, after_loss({nodes_chosen("n[2-3]"), script_ended(0), k_not_preempted}),
       begin + "choose_nodes, count_restart n[2-3], start_script n[2-3], read_preemption, end 0"},
      {"the same", facts, after_loss({nodes_chosen("n[1-2]"), k_accepted}),
       begin + "choose_nodes, requeue, end 1"},
      {"too few", facts, after_loss({k_too_few_nodes, k_accepted}), begin + "choose_nodes, requeue, end 1"},
      {"at the limit", restarted(facts, 2), after_loss({}), begin + "end 1"},
      {"the last restart", restarted(facts, 1),
       after_loss({nodes_chosen("n[2-3]"), script_ended(1), k_not_preempted, cause("node")}),
       begin + "choose_nodes, count_restart n[2-3], start_script n[2-3], read_preemption, read_cause, end 1"},
      {"Slurm ends the job meanwhile", facts, after_loss({k_job_ending, nodes_chosen("n[2-3]")}),
       begin + "choose_nodes, end 1"},
      {"the next run saves", facts,
       after_loss({nodes_chosen("n[2-3]"), k_limit_near, steps_ended(0), script_ended(143), k_accepted}),
       begin + "choose_nodes, count_restart n[2-3], start_script n[2-3], " + k_saves +
           ", end_script, requeue, end 0"},
      {"only the loss of a node",
       facts,
       {nodes_chosen("n[1-2]"), script_ended(1), k_not_preempted, cause("program")},
       begin + "end 1"},
      {"not requeued on the loss of a node", with_spare_nodes(make_facts()), after_loss({}), begin + "end 1"},
  });
  BatchState state{facts};
  reports_at(state, {k_started});
  CHECK(
      reports_at(state, after_loss({nodes_chosen("n[2-3]")})) ==
      "the run failed (cause: node): restarting it on healthy nodes of this job (restart 1 of at most 2)\n");
}

TEST_CASE("decide requeues a job that starts on a faulty node") {
  const auto facts = on_bad_node(make_facts());
  auto alone = facts;
  alone.requeues = false;
  check_from_start({
      {"requeued", facts, {k_accepted}, "requeue: end 0"},
      {"at the limit", restarted(facts, 2), {}, "start_script: "},
      {"without requeue", alone, {}, "start_script: "},
      {"refused: it starts",
       facts,
       {k_refused, script_ended(5), k_not_preempted, cause("")},
       "requeue: start_script, read_preemption, read_cause, end 5"},
      {"refused, with spare nodes",
       with_spare_nodes(facts),
       {k_refused, nodes_chosen("n2")},
       "requeue: choose_nodes, start_script n2"},
      {"refused, and Slurm ends the job", facts, {k_job_ending, k_refused}, "requeue: end 0"},
  });
}

TEST_CASE("decide starts nothing if a job has taken over") {
  auto facts = with_spare_nodes(on_bad_node(make_facts()));
  facts.continued_by = "71";
  BatchState state{facts};
  CHECK(actions_at(state, {k_started}) == "end 0");
  CHECK(actions_at(state, {k_started, nodes_chosen("n1"), k_accepted, k_job_ending}) == "");
  BatchState again{facts};
  CHECK(reports_at(again, {k_started}) ==
        "job 71 has replaced this job (70), which therefore starts nothing and exits with 0\n");
}
