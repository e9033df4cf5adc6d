// SPDX-License-Identifier: MIT
// Who decides for all nodes of a run: when the ranks start, who failed first, whether all start again, and
// how the run ends. Pure: no sockets, no clock. It lives on the first node; all agents are its clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/agent/agent_protocol.hpp"
#include "run/agent/heartbeat.hpp"
#include "run/agent/restart_backoff.hpp"

namespace hpcml::agent {

using AgentId = std::uint64_t;

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

  /// What is to be sent since the last call, in this order.
  std::vector<std::pair<AgentId, AgentCommand>> take_orders() { return std::exchange(x_orders, {}); }
  /// Returns the messages since the last call.
  std::vector<std::string> take_messages() { return std::exchange(x_messages, {}); }
  /// True if all agents were notified of the end of the run and have disconnected.
  bool is_over() const { return x_state == State::over; }

private:
  /// Whether the ranks are started again after a stop.
  enum class Restart { no, at_once, after_pause };
  enum class State { gathering, serving, running, looking, stopping, ending, over };
  struct Agent {
    std::string host;
    std::optional<unsigned> node_rank; ///< as given
    unsigned processes = 1;
    bool leads = false;
    std::uint64_t order = 0; ///< of its coming
    bool takes_part = false; ///< in this attempt
    bool ended = false, good = false, quiet = false, looked = false;
    Time last_received{}; ///< when it sent something last, a heartbeat or anything else
  };

  /// The agent of the first node speaks for all.
  void send(AgentId agent, AgentCommand order, bool reports = true) {
    order.is_reporter = order.is_reporter || (reports && x_agents.at(agent).leads);
    x_orders.emplace_back(agent, std::move(order));
  }
  std::vector<AgentId> in_order() const;
  std::vector<NodeMember> world() const;
  bool is_elastic() const { return x_rules.min_nodes < x_rules.max_nodes; }
  void gather(Time now);
  void begin(Time now);
  void start(const std::string& place);
  bool is_pausing(Time now) const { return x_pause_until && now < *x_pause_until; }
  void take_failure(failures::RankFailure failure, Time now);
  AgentCommand order_after_failure(AgentCommand::Kind kind) const;
  void stop(Restart restart, const std::string& reason, Time now);
  void name_failure();
  void handle_stall(Time now);
  void take_ended(Time now);
  /// `reason`: a clause with the node's name. `order`: what the agent itself is sent.
  void remove_agent(AgentId agent, const std::string& reason, int code, bool may_return,
                    AgentCommand::Kind order, Time now);
  void note_time(Time now);
  void restart_deadlines(Time now);
  void remove_silent_agents(Time now);
  void remove_silent(AgentId agent, Time now);
  void add_newcomers(Time now);
  bool has_room() const { return x_participants.size() < x_rules.max_nodes; }
  bool has_enough_nodes() const { return x_agents.size() >= x_rules.min_nodes; }
  void finish(int code, const std::string& reason, Time now);
  void send_shutdown(Time now);
  std::string missing_nodes(const std::string& when) const;
  std::vector<std::string> lost_hosts() const;

  CoordinatorOptions x_rules;
  State x_state = State::gathering;
  std::map<AgentId, Agent> x_agents;
  std::uint64_t x_agent_count = 0; ///< agents so far
  Time x_since;                    ///< when the state began
  std::optional<Time> x_enough_since;
  std::optional<Time> x_last_call; ///< of any function with a time
  std::chrono::seconds x_next_word{20};
  unsigned x_attempt = 0, x_restarts = 0;
  std::vector<AgentId> x_participants; ///< in the order of their node ranks
  std::optional<failures::RankFailure> x_failure;
  bool x_failure_reported = true;    ///< it was reported
  std::string x_reason;              ///< why the ranks are stopped, where none has failed
  std::vector<std::string> x_stacks; ///< of ranks that stalled, by their agents
  std::vector<std::string> x_lost;   ///< hosts whose agents have died in this attempt
  bool x_shutting_down = false;      ///< some agent was asked to end: others may be killed
  bool x_restart_pending = false;    ///< after the stop all are started again
  RestartBackoff x_backoff;
  Time x_begun{};                    ///< when this attempt began
  std::chrono::seconds x_pause{0};   ///< between the end of the ranks and their restart
  std::optional<Time> x_pause_until; ///< no attempt begins before
  int x_code = 0;
  std::vector<std::pair<AgentId, AgentCommand>> x_orders;
  std::vector<std::string> x_messages;
};

} // namespace hpcml::agent
