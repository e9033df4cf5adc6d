// SPDX-License-Identifier: MIT
// A conductor played with: what agents say, at times that the test sets, and the orders that each has got.
#pragma once

#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "run/agent/coordinator.hpp"

namespace hpcml::testing {

using namespace hpcml::agent;
using std::chrono::seconds;

/// A conductor and the orders that each agent has got, at a time that the test sets.
class Play {
public:
  explicit Play(CoordinatorOptions rules)
      : x_beats(rules.heartbeat.is_on()), x_coordinator(std::move(rules), x_now) {}
  RegisterReply come(AgentId agent, std::optional<unsigned> node_rank = {}, unsigned processes = 2) {
    const auto reply = x_coordinator.register_agent(
        agent, {"job", "run", "node" + std::to_string(agent), node_rank, processes, agent == 0}, x_now);
    x_alive.insert(agent);
    collect();
    return reply;
  }
  void send_event(AgentId agent, AgentEvent event) {
    x_coordinator.on_event(agent, event, x_now);
    collect();
  }
  void serving(unsigned attempt) {
    AgentEvent event;
    event.kind = AgentEvent::Kind::serving;
    event.attempt = attempt;
    event.place = "host:" + std::to_string(1000 + attempt);
    send_event(0, event);
  }
  void ended(AgentId agent, unsigned attempt, bool good) {
    AgentEvent event;
    event.attempt = attempt;
    event.good = good;
    send_event(agent, event);
  }
  void failed(AgentId agent, unsigned attempt, unsigned rank, int code, const std::string& message = {},
              std::int64_t reported_at = 0, std::int64_t age = 0) {
    AgentEvent event;
    event.kind = AgentEvent::Kind::failed;
    event.attempt = attempt;
    event.failure.rank = rank;
    event.failure.status = code << 8;
    event.failure.message = message;
    event.failure.host = "node" + std::to_string(agent);
    event.failure.reported_at = reported_at;
    event.failure.reported_age = age;
    send_event(agent, event);
  }
  void send(AgentId agent, AgentEvent::Kind kind, unsigned attempt) {
    AgentEvent event;
    event.kind = kind;
    event.attempt = attempt;
    send_event(agent, event);
  }
  void leaves(AgentId agent, int signal) {
    AgentEvent event;
    event.kind = AgentEvent::Kind::leaving;
    event.signal = signal;
    send_event(agent, event);
  }
  /// It stops working: no heartbeat comes any more, and its connection stays.
  void silence(AgentId agent) { x_alive.erase(agent); }
  void lose(AgentId agent) {
    x_alive.erase(agent);
    x_coordinator.on_disconnect(agent, x_now);
    collect();
  }
  /// Time passes, while the agents that work send heartbeats.
  void pass(seconds time) {
    while (time.count() > 0) {
      const auto step = std::min(time, seconds(time > seconds(20) ? 5 : 1));
      x_now += step;
      time -= step;
      if (x_beats)
        for (const auto agent : std::set(x_alive)) send(agent, AgentEvent::Kind::heartbeat, 0);
      x_coordinator.tick(x_now);
      collect();
    }
  }
  /// Time passes, and the conductor's process does not run meanwhile.
  void pause(seconds time) {
    x_now += time;
    x_coordinator.tick(x_now);
    collect();
  }
  /// The orders that have come since the last call, by agent.
  std::vector<AgentCommand> take(AgentId agent) { return std::exchange(x_orders[agent], {}); }
  /// Returns the order that has come since the last call; fails unless it is the only one.
  AgentCommand only_order(AgentId agent) {
    auto orders = take(agent);
    REQUIRE(orders.size() == 1);
    return orders.front();
  }
  AgentCommand sole_order(AgentId agent) { return only_order(agent); }
  Coordinator& coordinator() { return x_coordinator; }
  std::map<AgentId, unsigned> answers; ///< to heartbeats, by agent

private:
  void collect() {
    for (auto& [agent, order] : x_coordinator.take_orders())
      if (order.kind == AgentCommand::Kind::heartbeat)
        ++answers[agent];
      else
        x_orders[agent].push_back(std::move(order));
  }
  bool x_beats;
  std::set<AgentId> x_alive;
  Coordinator::Time x_now{};
  Coordinator x_coordinator;
  std::map<AgentId, std::vector<AgentCommand>> x_orders;
};

inline CoordinatorOptions rules(unsigned min, unsigned max, unsigned restarts = 0) {
  CoordinatorOptions made;
  made.job = "job";
  made.run_id = "run";
  made.min_nodes = min;
  made.max_nodes = max;
  made.max_restarts = restarts;
  return made;
}

/// All agents have come and run attempt 0.
inline void begin(Play& play, unsigned nodes) {
  for (unsigned node = 0; node < nodes; ++node) CHECK(play.come(node, node).refused.empty());
  CHECK(play.sole_order(0).kind == AgentCommand::Kind::serve);
  play.serving(0);
  for (unsigned node = 0; node < nodes; ++node)
    CHECK(play.sole_order(node).kind == AgentCommand::Kind::start);
}

} // namespace hpcml::testing
