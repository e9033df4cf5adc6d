// SPDX-License-Identifier: MIT
// Decides for all nodes of a run: when the ranks start, which failure is the first, whether all ranks
// restart, and how the run ends. Pure: no sockets, no clock. It runs on the first node; all agents are its
// clients.
//
//   gathering ──► serving ──► running ──► looking       each also ──► ending, if the leader is lost
//    ▲    │          │           │           │
//    │    │          └───────────┴─────┬─────┘
//    │    │                            ▼
//    │    │                         stopping
//    │    │                            │
//    └────┼────────────────────────────┤ all ranks have ended: all restart, or the run ends
//         └──────────────────────────► ending ──► over
//
//   gathering: too few nodes have joined, or the pause before a restart lasts
//   serving:   the leader starts the store of the attempt
//   running:   the ranks run; if all end by themselves, the run ends
//   looking:   all ranks are quiet, and their stacks are read
//   stopping:  a rank failed, all are quiet, a node was lost or joined: the ranks end
//   ending:    the other agents receive the end of the run, and leave before the leader
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/agent/agent_protocol.hpp"
#include "run/agent/heartbeat.hpp"
#include "run/agent/join_wait.hpp"
#include "run/agent/node_membership.hpp"
#include "run/agent/restart_budget.hpp"
#include "run/agent/stop_cause.hpp"

namespace hpcml::agent {

constexpr int k_nodes_missing = 1; ///< exit code where too few nodes come, or are left

struct CoordinatorOptions {
  std::string job;
  std::string run_id;
  unsigned min_nodes = 1;
  unsigned max_nodes = 1;
  std::vector<std::string> hosts; ///< of all nodes, in their order; empty if not known
  unsigned max_restarts = 0;
  std::chrono::seconds join_timeout{600};       ///< for min_nodes to come
  std::chrono::seconds extra_nodes_timeout{30}; ///< for more than min_nodes
  std::chrono::seconds shutdown_timeout{
      5};                              ///< for the agents to leave after the end of the run was announced
  std::chrono::seconds stack_time{60}; ///< for the stacks of ranks that stall
  std::chrono::seconds attribution_delay{2}; ///< for the cause of a failure, once the ranks are asked to end
  HeartbeatOptions heartbeat{std::chrono::seconds(5), std::chrono::seconds(0)};
  bool nodes_return = false; ///< a node that was lost may join again: its agent can be restarted
  std::string stall_timeout; ///< "60 s": after which agents say that nothing comes of their ranks
};

class Coordinator {
public:
  using Time = std::chrono::steady_clock::time_point;

  Coordinator(CoordinatorOptions rules, Time now);

  RegisterReply register_agent(AgentId agent, const RegisterRequest& registration, Time now);
  void on_event(AgentId agent, const AgentEvent& event, Time now);
  /// Its connection has ended.
  void on_disconnect(AgentId agent, Time now);
  /// To be called at least twice a second: a call that comes much later is the sign of a pause.
  void tick(Time now);

  /// Returns the commands to send since the last call, in this order.
  std::vector<std::pair<AgentId, AgentCommand>> take_commands() { return std::exchange(x_commands, {}); }
  /// Returns the messages since the last call.
  std::vector<std::string> take_messages() { return std::exchange(x_messages, {}); }
  /// True if all agents were notified of the end of the run and have disconnected.
  bool is_over() const { return x_state == State::over; }

private:
  enum class State { gathering, serving, running, looking, stopping, ending, over };
  /// Why an agent is removed.
  struct Removal {
    std::string reason; ///< a clause with the node's name
    int code = k_nodes_missing;
    bool may_return = false;
    bool is_lost = false; ///< it is to kill its ranks
  };

  template <class Command> void send(AgentId agent, Command command) {
    x_commands.emplace_back(agent, AgentCommand{std::move(command)});
  }
  /// The agent of the first node reports for all.
  template <class Command> void send_reported(AgentId agent, Command command) {
    command.is_reporter = command.is_reporter || x_nodes.at(agent).leads;
    send(agent, std::move(command));
  }
  /// Whether Slurm may have killed agents because the job or the step ends. It sends KILL at least 5 s after
  /// TERM (KillWait; slurm.conf(5)). An agent that is gone sooner without a message died before: srun ends
  /// the others of a step because of it (--kill-on-bad-exit), and their messages may come first.
  bool may_be_killed(Time now) const {
    constexpr std::chrono::seconds k_margin{2};
    return x_signalled_at && now - *x_signalled_at >= k_margin;
  }
  bool has_ended() const { return x_state == State::ending || x_state == State::over; }
  void enter(State state, Time now) {
    x_state = state;
    x_since = now;
  }
  void gather(Time now);
  void begin(Time now);
  void start(const std::string& place);
  AttemptSetup setup_of(unsigned node_rank) const;
  void take_failure(failures::RankFailure failure, Time now);
  StopReport stop_report() const;
  void stop(Restart restart, const std::string& reason, Time now);
  void report_failure();
  void handle_stall(Time now);
  void take_ended(Time now);
  void remove_agent(AgentId agent, const Removal& removal, Time now);
  void gather_without(const Removal& removal, Time now);
  void cancel_restart(const Removal& removal);
  void remove_leader(AgentId agent, const Removal& removal, Time now);
  void note_time(Time now);
  void restart_timeouts(Time now);
  void remove_silent_agents(Time now);
  void remove_silent(AgentId agent, Time now);
  void add_newcomers(Time now);
  void finish(int code, const std::string& reason, Time now);
  void send_shutdown(Time now);

  CoordinatorOptions x_rules;
  State x_state = State::gathering;
  Time x_since; ///< when the state began
  unsigned x_attempt = 0;
  NodeMembership x_nodes;
  JoinWait x_join;
  RestartBudget x_restarts;
  StopCause x_cause;
  std::optional<Time> x_signalled_at; ///< when the first agent was asked to end
  std::optional<Time> x_last_call;    ///< of any function with a time
  std::vector<std::pair<AgentId, AgentCommand>> x_commands;
  std::vector<std::string> x_messages;
};

} // namespace hpcml::agent
