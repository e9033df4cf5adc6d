// SPDX-License-Identifier: MIT
// What an agent writes down of its run: the record, and the nodes that were found bad.
#include <algorithm>

#include "run/agent/agent_loop.hpp"
#include "run/launch/report_bad_node.hpp"
#include "run/launch/failure.hpp"

namespace hpcml::agent {

/// The run's record begins with the first attempt: only then all nodes are known.
void AgentLoop::open_record(const AgentCommand& order) {
  if (x_record || !x_folder.is_kept()) return;
  auto record = RunRecord::open(x_folder.path() + "/" + record_name(order.node_rank));
  if (!record) return launch::log_stderr("hpcml agent: " + record.error().what);
  x_record.emplace(std::move(*record));
  RunFacts facts;
  facts.run_id = x_run_id;
  facts.job = x_here.env.get_or("SLURM_JOB_ID", "");
  facts.step = x_here.env.get_or("SLURM_STEP_ID", "");
  facts.hpcml = HPCML_VERSION;
  facts.command = x_request.launch.command;
  facts.folder = x_folder.path();
  facts.host = x_here.host;
  facts.node = order.node_rank;
  for (const auto& node : order.world) facts.nodes.push_back(node.host);
  facts.max_restarts = x_request.max_restarts;
  facts.met = std::chrono::duration<double>(Clock::now() - x_met.begun).count();
  note(facts);
}

void AgentLoop::note(const RecordEvent& event) {
  if (!x_record) return;
  if (const auto added = x_record->add(event); !added)
    launch::log_stderr("hpcml agent: " + added.error().what);
}

/// Once for each node. The first node's agent reports it to the job's next start, unless any user may have
/// sent it.
void AgentLoop::note_bad_node(const std::string& node, const std::string& why) {
  if (x_own.channel.is_open && node != x_here.host) return;
  if (!x_met.leads || std::find(x_bad_nodes.begin(), x_bad_nodes.end(), node) != x_bad_nodes.end()) return;
  x_bad_nodes.push_back(node);
  note(BadNodeSeen{{node, why}});
  launch::report_bad_node({node, why}, x_here.env);
}

void AgentLoop::note_lost(const AgentCommand& order) {
  for (const auto& host : order.lost) note_bad_node(host, "its agent was lost");
}

} // namespace hpcml::agent
