// SPDX-License-Identifier: MIT
// Reports what happens to a run on this node: messages for users, the run's record, faulty nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/agent/agent_rendezvous.hpp"
#include "run/agent/agent_request.hpp"
#include "run/agent/run_directory.hpp"
#include "run/agent/run_record.hpp"
#include "run/agent/worker_group.hpp"
#include "run/launch/launch_context.hpp"

namespace hpcml::agent {

class RunReporter {
public:
  /// `is_open`: any user may have sent what comes from other agents.
  RunReporter(const AgentRequest& request, const launch::RuntimeContext& context,
              const RunDirectory& directory, bool is_leader, bool is_open)
      : x_request(request), x_context(context), x_directory(directory), x_is_leader(is_leader),
        x_is_open(is_open) {}
  RunReporter(const RunReporter&) = delete;
  RunReporter& operator=(const RunReporter&) = delete;

  /// Begins the record, once and if one is kept. `setup`: of the first attempt; `begun`: the start
  /// of this agent.
  void begin_record(const AttemptSetup& setup, std::chrono::steady_clock::time_point begun);
  void add(const RecordEvent& event);
  /// The record; null if none is kept.
  RunRecord* record() { return x_record ? &*x_record : nullptr; }

  /// Reports the nodes whose agents were lost.
  void report_lost(const std::vector<std::string>& hosts);
  /// Reports why all ranks are stopped, if `report` chooses this agent. `attempt`: theirs; null before the
  /// first.
  void report_stop(const StopReport& report, const Attempt* attempt, const MessageWriter& print_line);
  /// Reports why the run ends, unless that was reported when the ranks were stopped.
  void report_end(const StopReason& end, const Attempt* attempt);

private:
  void report_faulty_node(const std::string& node, const std::string& why);
  void write_stacks(const StopReport& report, const Attempt* attempt, const MessageWriter& print_line);
  void record_failure(const failures::RankFailure& failure, int code, unsigned world_size);

  const AgentRequest& x_request;
  const launch::RuntimeContext& x_context;
  const RunDirectory& x_directory;
  bool x_is_leader;
  bool x_is_open;
  std::optional<RunRecord> x_record;
  std::vector<std::string> x_faulty_nodes; ///< reported so far
  std::optional<StopReport> x_last_report; ///< why ranks were stopped last
};

} // namespace hpcml::agent
