// SPDX-License-Identifier: MIT
// A conductor played with: what agents say, at times that the test sets, and the commands that each has got.
#pragma once

#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "run/agent/coordinator.hpp"

namespace hpcml::testing {

using namespace hpcml::agent;
using std::chrono::seconds;

/// A conductor and the commands that each agent has got, at a time that the test sets.
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
  /// An event of the agent in the attempt.
  template <class Event> void send(AgentId agent, Event event, unsigned attempt) {
    x_coordinator.on_event(agent, {attempt, std::move(event)}, x_now);
    collect();
  }
  void serving(unsigned attempt) { send(0, ServingEvent{"host:" + std::to_string(1000 + attempt)}, attempt); }
  void ended(AgentId agent, unsigned attempt, bool good) { send(agent, EndedEvent{good}, attempt); }
  void failed(AgentId agent, unsigned attempt, unsigned rank, int code, const std::string& message = {},
              std::int64_t reported_at = 0, std::int64_t age = 0) {
    FailedEvent event;
    event.failure.rank = rank;
    event.failure.status = code << 8;
    event.failure.message = message;
    event.failure.host = "node" + std::to_string(agent);
    event.failure.reported_at = reported_at;
    event.failure.reported_age = age;
    send(agent, std::move(event), attempt);
  }
  void leaves(AgentId agent, int signal) { send(agent, LeavingEvent{signal}, 0); }
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
        for (const auto agent : std::set(x_alive)) send(agent, Heartbeat{}, 0);
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
  bool has_commands(AgentId agent) const {
    const auto found = x_commands.find(agent);
    return found != x_commands.end() && !found->second.empty();
  }
  /// The commands that have come since the last call, by agent.
  std::vector<AgentCommand> take(AgentId agent) { return std::exchange(x_commands[agent], {}); }
  /// Returns the command that has come since the last call; fails unless it is the only one, and of this
  /// kind.
  template <class Command> Command only(AgentId agent) {
    REQUIRE(x_commands[agent].size() == 1);
    return last<Command>(agent);
  }
  /// Returns the last command since the last call; fails unless it is of this kind.
  template <class Command> Command last(AgentId agent) {
    const auto commands = take(agent);
    REQUIRE_FALSE(commands.empty());
    CAPTURE(store::FieldPrinter::print(commands.back().what));
    REQUIRE(std::holds_alternative<Command>(commands.back().what));
    return std::get<Command>(commands.back().what);
  }
  Coordinator& coordinator() { return x_coordinator; }
  std::map<AgentId, unsigned> answers; ///< to heartbeats, by agent

private:
  void collect() {
    for (auto& [agent, command] : x_coordinator.take_commands())
      if (std::holds_alternative<Heartbeat>(command.what))
        ++answers[agent];
      else
        x_commands[agent].push_back(std::move(command));
  }
  bool x_beats;
  std::set<AgentId> x_alive;
  Coordinator::Time x_now{};
  Coordinator x_coordinator;
  std::map<AgentId, std::vector<AgentCommand>> x_commands;
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
  play.only<ServeCommand>(0);
  play.serving(0);
  for (unsigned node = 0; node < nodes; ++node) play.only<StartCommand>(node);
}

} // namespace hpcml::testing
