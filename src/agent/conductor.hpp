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

#include "agent/heartbeat.hpp"
#include "agent/restart_backoff.hpp"
#include "agent/words.hpp"

namespace hpcml::agent {

using AgentId = std::uint64_t;

constexpr int k_nodes_missing = 1; ///< exit code where too few nodes come, or are left

struct ConductorRules {
  std::string job;
  std::string run_id;
  unsigned min_nodes = 1;
  unsigned max_nodes = 1;
  std::vector<std::string> hosts; ///< of all nodes, in their order; empty if not known
  unsigned max_restarts = 0;
  std::chrono::seconds patience{600};  ///< for min_nodes to come
  std::chrono::seconds last_call{30};  ///< for more than min_nodes
  std::chrono::seconds farewell{5};    ///< for the agents to go, once they were told that the run has ended
  std::chrono::seconds stack_time{60}; ///< for the stacks of ranks that stall
  std::chrono::seconds doubt{2};       ///< for the cause of a failure, once the ranks are asked to end
  HeartbeatOptions heartbeat{std::chrono::seconds(5), std::chrono::seconds(0)};
  bool nodes_return = false; ///< a node that was lost may join again: its agent can be restarted
  std::string quiet_time;    ///< "60 s": after which agents say that nothing comes of their ranks
};

class Conductor {
public:
  using Time = std::chrono::steady_clock::time_point;

  Conductor(ConductorRules rules, Time now);

  Reply hello(AgentId agent, const Hello& hello, Time now);
  void tell(AgentId agent, const Event& event, Time now);
  /// Its connection has ended.
  void lost(AgentId agent, Time now);
  /// To be called at least twice a second: a call that comes much later is the sign of a pause.
  void tick(Time now);

  /// What is to be sent since the last call, in this order.
  std::vector<std::pair<AgentId, Order>> take_orders() { return std::exchange(x_orders, {}); }
  /// Sentences for people since the last call.
  std::vector<std::string> take_words() { return std::exchange(x_words, {}); }
  /// Whether all have been told that the run has ended, and have gone.
  bool is_over() const { return x_state == State::over; }

private:
  /// Whether the ranks are started again after a stop.
  enum class Restart { no, at_once, after_pause };
  enum class State { gathering, serving, running, looking, stopping, ending, over };
  struct Agent {
    std::string host;
    std::optional<unsigned> node_rank; ///< as it was told
    unsigned processes = 1;
    bool leads = false;
    std::uint64_t order = 0; ///< of its coming
    bool takes_part = false; ///< in this attempt
    bool ended = false, good = false, quiet = false, looked = false;
    Time heard{}; ///< when it sent something last, a heartbeat or anything else
  };

  /// The agent of the first node speaks for all.
  void send(AgentId agent, Order order, bool reports = true) {
    order.says = order.says || (reports && x_agents.at(agent).leads);
    x_orders.emplace_back(agent, std::move(order));
  }
  std::vector<AgentId> in_order() const;
  std::vector<Participant> world() const;
  bool is_elastic() const { return x_rules.min_nodes < x_rules.max_nodes; }
  void gather(Time now);
  void begin(Time now);
  void start(const std::string& place);
  bool is_pausing(Time now) const { return x_pause_until && now < *x_pause_until; }
  void take_failure(FailureNote failure, Time now);
  Order order_after_failure(Order::Kind kind) const;
  void stop(Restart restart, const std::string& reason, Time now);
  void name_failure();
  void look_at_stall(Time now);
  void take_ended(Time now);
  /// `reason`: a clause with the node's name. `order`: what the agent itself is sent.
  void remove_agent(AgentId agent, const std::string& reason, int code, bool may_return, Order::Kind order,
                    Time now);
  void note_time(Time now);
  void restart_deadlines(Time now);
  void remove_silent_agents(Time now);
  void remove_silent(AgentId agent, Time now);
  void add_newcomers(Time now);
  bool has_room() const { return x_participants.size() < x_rules.max_nodes; }
  bool has_enough_nodes() const { return x_agents.size() >= x_rules.min_nodes; }
  void finish(int code, const std::string& reason, Time now);
  void say_goodbye(Time now);
  std::string missing_nodes() const;
  std::vector<std::string> lost_hosts() const;

  ConductorRules x_rules;
  State x_state = State::gathering;
  std::map<AgentId, Agent> x_agents;
  std::uint64_t x_come = 0; ///< agents so far
  Time x_since;             ///< when the state began
  std::optional<Time> x_enough_since;
  std::optional<Time> x_last_call; ///< of any function with a time
  std::chrono::seconds x_next_word{20};
  unsigned x_attempt = 0, x_restarts = 0;
  std::vector<AgentId> x_participants; ///< in the order of their node ranks
  std::optional<FailureNote> x_failure;
  bool x_named = true;               ///< people know of it
  std::string x_reason;              ///< why the ranks are stopped, where none has failed
  std::vector<std::string> x_stacks; ///< of ranks that stalled, by their agents
  std::vector<std::string> x_lost;   ///< hosts whose agents have died in this attempt
  bool x_leaving = false;            ///< some agent was asked to end: others may be killed
  bool x_again = false;              ///< after the stop all are started again
  RestartBackoff x_backoff;
  Time x_begun{};                    ///< when this attempt began
  std::chrono::seconds x_pause{0};   ///< between the end of the ranks and their restart
  std::optional<Time> x_pause_until; ///< no attempt begins before
  int x_code = 0;
  std::vector<std::pair<AgentId, Order>> x_orders;
  std::vector<std::string> x_words;
};

} // namespace hpcml::agent
