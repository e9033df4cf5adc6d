// SPDX-License-Identifier: MIT
// The conductor at its store: who hears what.
#include <catch2/catch.hpp>

#include <map>

#include "run/agent/coordinator_service.hpp"

using namespace hpcml;
using namespace hpcml::agent;

namespace {

/// Keeps what each client is answered.
struct RecordedAnswers : store::AnswerSink {
  void bytes(store::ClientId client, std::string_view bytes) override { to[client].emplace_back(bytes); }
  void value(store::ClientId client, const store::SharedValue& value) override {
    to[client].push_back(*value);
  }
  std::map<store::ClientId, std::vector<std::string>> to;
};

/// A service of one run, and what its clients hear.
struct Play {
  explicit Play(const CoordinatorOptions& rules) : service(rules, [](const std::string&) {}) {}
  bool receive(store::ClientId client, store::StoreOpcode op, std::string_view key,
               const std::vector<std::string_view>& values = {}) {
    store::TcpStoreMessage message;
    message.op = op;
    message.keys = {key};
    message.values = values;
    return service.on_message(client, message, recorded, now);
  }
  /// An agent that has proved the key.
  void register_agent(store::ClientId client, unsigned node, bool leads) {
    service.authenticated(client, {store::PeerRole::agent, "", "", node}, now);
    register_node(client, node, leads);
  }
  void register_node(store::ClientId client, unsigned node, bool leads) {
    const auto bytes =
        store::pack_message(RegisterRequest{"", "", "node" + std::to_string(node), node, 1, leads});
    receive(client, store::StoreOpcode::compare_set, k_register_key, {"", bytes});
  }
  void send_event(store::ClientId client, const AgentEvent& event) {
    const auto bytes = store::pack_message(event);
    receive(client, store::StoreOpcode::set, k_event_key, {bytes});
  }
  /// What `client` is told when it asks next; nothing where it has to wait.
  std::optional<AgentCommand> ask(store::ClientId client) {
    recorded.to.clear();
    receive(client, store::StoreOpcode::get, k_order_key);
    service.round(recorded, now);
    if (recorded.to[client].empty()) return std::nullopt;
    const auto command =
        store::unpack_message<AgentCommand>(std::string_view(recorded.to[client].front()).substr(8));
    return command ? std::optional(*command) : std::nullopt;
  }
  CoordinatorService service;
  RecordedAnswers recorded;
  store::Time now = std::chrono::steady_clock::now();
};

CoordinatorOptions rules_for(unsigned least, unsigned most) {
  CoordinatorOptions rules;
  rules.min_nodes = least;
  rules.max_nodes = most;
  return rules;
}

} // namespace

TEST_CASE("an agent never hears what was meant for one that had its number before") {
  auto rules = rules_for(2, 2);
  rules.nodes_return = true;
  Play play(rules);
  play.register_agent(7, 0, true);
  play.register_agent(8, 1, false);
  CHECK(std::holds_alternative<ServeCommand>(play.ask(7)->what));
  play.send_event(7, {0, ServingEvent{}});
  const bool is_polled = GENERATE(true, false);
  if (is_polled) CHECK(std::holds_alternative<StartCommand>(play.ask(8)->what));
  play.service.left(8, "", "", play.now);
  // The same node comes back, by the connection that is free.
  play.register_agent(8, 1, false);
  CHECK_FALSE(play.ask(8));
}

TEST_CASE("what strangers tell at an agent's port changes nothing") {
  Play play(rules_for(1, 1));
  play.register_agent(7, 0, true);
  CHECK(std::holds_alternative<ServeCommand>(play.ask(7)->what));
  FailedEvent failed;
  failed.failure.status = 256;
  for (const AgentEvent& event :
       {AgentEvent{0, LeavingEvent{15}}, AgentEvent{0, failed}, AgentEvent{0, EndedEvent{}},
        AgentEvent{0, QuietEvent{}}, AgentEvent{0, ServingEvent{}}})
    play.send_event(9, event);
  play.service.left(9, "", "", play.now);
  CHECK_FALSE(play.ask(7));
  for (const auto bytes : {"", "hpcml agent event 1", "\x13\0\0\0"}) {
    CHECK(play.receive(9, store::StoreOpcode::set, k_event_key, {bytes}));
    CHECK(play.receive(9, store::StoreOpcode::compare_set, k_register_key, {bytes}));
  }
  CHECK(play.receive(9, store::StoreOpcode::set, k_event_key));
  CHECK_FALSE(play.ask(7));
}

TEST_CASE("an agent cannot speak for another node") {
  Play play(rules_for(2, 2));
  play.service.authenticated(8, {store::PeerRole::agent, "", "", 1}, play.now);
  play.register_node(8, 0, true);
  const auto reply =
      store::unpack_message<RegisterReply>(std::string_view(play.recorded.to[8].at(0)).substr(8));
  REQUIRE(reply);
  CHECK(reply->refused == "rejected this agent: it authenticated for another job, run or node");
}
