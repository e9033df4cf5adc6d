// SPDX-License-Identifier: MIT
// Facts, events and actions of a batch process, in short forms for tables.
#pragma once

#include <string>
#include <vector>

#include "run/batch/batch_decision.hpp"

namespace hpcml::testing {

/// Job 70, which saves ten minutes before its limit and is restarted at most twice.
batch::JobStartFacts make_facts();
/// The same, requeued after the failures of `classes`: "node,preempted".
batch::JobStartFacts make_facts_after(const std::string& classes);

inline const batch::Event k_started{batch::EventKind::started};
inline const batch::Event k_limit_near{batch::EventKind::limit_near};
inline const batch::Event k_save_time_over{batch::EventKind::save_time_over};
inline const batch::Event k_job_ending{batch::EventKind::job_ending};
inline const batch::Event k_delayed{batch::EventKind::requeue_delayed};
inline const batch::Event k_accepted{batch::EventKind::requeue_accepted};
inline const batch::Event k_refused{batch::EventKind::requeue_refused, false, 0,
                                    "Requested operation is disabled"};
inline const batch::Event k_no_step{batch::EventKind::steps_ended};
inline const batch::Event k_preempted{batch::EventKind::preemption_known, true};
inline const batch::Event k_not_preempted{batch::EventKind::preemption_known, false};
inline const batch::Event k_too_few_nodes{batch::EventKind::nodes_chosen};

batch::Event script_ended(int code);
batch::Event steps_ended(int code);
batch::Event nodes_chosen(const std::string& nodes);
/// The failure class in the run's record.
batch::Event cause(const std::string& failure);

/// "requeue", "end 0", "start_script n[1-2]", "report: text".
std::string text_of(const batch::Action& action);
/// The actions at these events, with commas between them; without reports.
std::string actions_at(batch::BatchState& state, const std::vector<batch::Event>& events);
/// The lines that are reported at these events.
std::string reports_at(batch::BatchState& state, const std::vector<batch::Event>& events);

} // namespace hpcml::testing
