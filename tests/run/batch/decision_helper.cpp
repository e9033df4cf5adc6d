// SPDX-License-Identifier: MIT
#include "run/batch/decision_helper.hpp"

namespace hpcml::testing {

using namespace batch;

namespace {

std::string name_of(ActionKind kind) {
  switch (kind) {
  case ActionKind::report: return "report:";
  case ActionKind::choose_nodes: return "choose_nodes";
  case ActionKind::start_script: return "start_script";
  case ActionKind::ask_to_save: return "ask_to_save";
  case ActionKind::end_script: return "end_script";
  case ActionKind::await_steps: return "await_steps";
  case ActionKind::read_preemption: return "read_preemption";
  case ActionKind::read_cause: return "read_cause";
  case ActionKind::count_restart: return "count_restart";
  case ActionKind::requeue: return "requeue";
  case ActionKind::end: return "end";
  }
  return {};
}

std::string collect(BatchState& state, const std::vector<Event>& events, bool reports) {
  std::string text;
  for (const auto& event : events)
    for (const auto& action : decide(state, event)) {
      if ((action.kind == ActionKind::report) != reports) continue;
      if (reports)
        text += action.text + "\n";
      else
        text += (text.empty() ? "" : ", ") + text_of(action);
    }
  return text;
}

} // namespace

JobStartFacts make_facts() {
  JobStartFacts facts;
  facts.job = "70";
  facts.saves = true;
  facts.lead_time = "00:10:00";
  facts.requeues = true;
  facts.max_restarts = 2;
  return facts;
}

JobStartFacts make_facts_after(const std::string& classes) {
  auto facts = make_facts();
  facts.requeue_on = model::RetryClasses::parse(classes).value();
  return facts;
}

Event script_ended(int code) { return {EventKind::script_ended, false, code, {}}; }
Event steps_ended(int code) { return {EventKind::steps_ended, true, code, {}}; }
Event nodes_chosen(const std::string& nodes) { return {EventKind::nodes_chosen, true, 0, nodes}; }
Event cause(const std::string& failure) { return {EventKind::cause_known, false, 0, failure}; }

std::string text_of(const Action& action) {
  auto text = name_of(action.kind);
  if (!action.text.empty()) text += " " + action.text;
  if (action.kind == ActionKind::end) text += " " + std::to_string(action.code);
  return text;
}

std::string actions_at(BatchState& state, const std::vector<Event>& events) {
  return collect(state, events, false);
}

std::string reports_at(BatchState& state, const std::vector<Event>& events) {
  return collect(state, events, true);
}

} // namespace hpcml::testing
