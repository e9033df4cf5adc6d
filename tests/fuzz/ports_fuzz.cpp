// SPDX-License-Identifier: MIT
// Any bytes from three clients at a port of the ranks' launchers or of the agents, with a job's key and
// without: what has not proved the key never reaches the registry or the coordinator. Some clients have the
// key and send messages that are almost right. Build with -DHPCML_FUZZ=ON and clang: ninja ports_fuzz &&
// bin/ports_fuzz -max_len=4096 NEW_FOLDER FOLDER_OF_SEEDS (tests/fuzz/seeds.py)
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "run/agent/coordinator_service.hpp"
#include "run/store/hpcml_protocol.hpp"
#include "run/store/rendezvous_service.hpp"
#include "run/store/session_gate.hpp"

using namespace hpcml;
using namespace hpcml::store;

namespace {

constexpr std::uint16_t k_port = 29400;
constexpr const char* k_job = "7.0@0";
constexpr unsigned k_ranks = 4;

/// The input, read from its beginning; zeros after its end.
class Input {
public:
  Input(const std::uint8_t* data, std::size_t size) : x_rest(reinterpret_cast<const char*>(data), size) {}
  bool is_over() const { return x_rest.empty(); }
  unsigned byte() { return x_rest.empty() ? 0 : static_cast<unsigned char>(text(1)[0]); }
  std::string_view text(std::size_t most) {
    const auto piece = x_rest.substr(0, most);
    x_rest.remove_prefix(piece.size());
    return piece;
  }

private:
  std::string_view x_rest;
};

struct Rules {
  bool has_key = false;
  PlainMessagePolicy plain = PlainMessagePolicy::rejected;
};

/// Aborts if a client reaches what is behind the gate without having proved the key.
class Checked : public ServerObserver {
public:
  Checked(Rules rules, ServerObserver& inner) : x_rules(rules), x_inner(inner) {}
  void begins(const StoreTable& table, std::size_t most) override { x_inner.begins(table, most); }
  void connected(ClientId client, const std::string& peer, Time now) override {
    x_inner.connected(client, peer, now);
  }
  void authenticated(ClientId client, const PeerIdentity& identity, Time now) override {
    if (!x_rules.has_key || !proved[client]) std::abort();
    x_authenticated[client] = true;
    x_inner.authenticated(client, identity, now);
  }
  MessageDisposition receive(ClientId client, const TcpStoreMessage& message, AnswerSink& answers,
                             Time now) override {
    bool own = false;
    for (const auto key : message.keys) own = own || key.starts_with(k_own_keys);
    const bool announces = message.op == StoreOpcode::compare_set && message.keys.front() == k_announce_key;
    const bool is_plain = x_rules.plain == PlainMessagePolicy::accepted ||
                          (x_rules.plain == PlainMessagePolicy::announcements && announces);
    if (own && !x_authenticated[client] && !is_plain) std::abort();
    return x_inner.receive(client, message, answers, now);
  }
  void left(ClientId client, const std::string& peer, const std::string& why, Time now) override {
    x_authenticated[client] = proved[client] = false;
    x_inner.left(client, peer, why, now);
  }
  void round(AnswerSink& answers, Time now) override { x_inner.round(answers, now); }
  bool tick(const StoreTable& table, Time now) override { return x_inner.tick(table, now); }

  std::array<bool, 3> proved{}; ///< this client has sent a proof with the right key

private:
  Rules x_rules;
  ServerObserver& x_inner;
  std::array<bool, 3> x_authenticated{};
};

/// What each client was answered last.
struct RecordedAnswers : AnswerSink {
  void bytes(ClientId client, std::string_view bytes) override { to[client % 3] += bytes; }
  void value(ClientId client, const SharedValue& value) override {
    if (!value) std::abort();
    to[client % 3] = *value;
  }
  std::array<std::string, 3> to;
};

const SecretKey& key() {
  static const auto k_key = SecretKey::parse(std::string(64, '5'));
  return *k_key;
}

/// A server without sockets, as server.cpp drives its observer.
class Port {
public:
  Port(Rules rules, bool for_agents) : x_rules(rules), x_for_agents(for_agents), x_table(5000) {
    const auto report = [](const std::string&) {};
    if (for_agents) {
      agent::CoordinatorOptions conductor;
      conductor.job = k_job;
      conductor.min_nodes = conductor.max_nodes = 3;
      conductor.max_restarts = 2;
      conductor.heartbeat = {std::chrono::seconds(5), std::chrono::seconds(30)};
      const bool is_open = rules.plain == PlainMessagePolicy::accepted;
      x_inner = std::make_unique<agent::CoordinatorService>(conductor, report,
                                                            is_open ? key().to_hex() : std::string());
    } else {
      auto rendezvous = std::make_unique<RendezvousService>(
          RendezvousServiceOptions{k_job, "", std::chrono::seconds(20), k_ranks}, report);
      rendezvous->set_port(k_port);
      x_inner = std::move(rendezvous);
    }
    x_checked = std::make_unique<Checked>(rules, *x_inner);
    SessionGateOptions gate;
    if (rules.has_key) gate.key = key();
    gate.job = k_job;
    gate.plain = rules.plain;
    x_gate = std::make_unique<SessionGate>(std::move(gate), *x_checked, report);
    x_gate->set_port(k_port);
    x_gate->begins(x_table, 100);
    for (ClientId client = 0; client < 3; ++client) x_gate->connected(client, "10.0.0.1", x_now);
  }

  void send_raw(ClientId client, std::string_view bytes) {
    auto& from = x_clients[client];
    from.received += bytes;
    TcpStoreMessage message;
    const auto connection = from.connection;
    while (from.connection == connection) {
      const auto found = read_message(from.received, from.dialect, limits(from), message);
      if (found.length > from.received.size()) std::abort();
      if (!found.fault.empty()) return leave(client, found.fault);
      if (found.length == 0) break;
      if (message.op != StoreOpcode::validate || from.greeted) receive(client, message);
      if (from.connection != connection) return;
      from.greeted = true;
      from.received.erase(0, found.length);
    }
  }

  /// Both messages of a client that has the key.
  void shake_hands(ClientId client, unsigned number, PeerRole role) {
    auto& from = x_clients[client];
    if (from.session) return;
    const auto step = x_for_agents ? identity_text("") : identity_text("0");
    from.session =
        std::make_unique<AuthenticationClient>(key(), PeerIdentity{role, k_job, step, number}, k_port);
    x_last_received.to[client].clear();
    receive(client, StoreOpcode::compare_set, k_session_key, from.session->request());
    if (!from.session) return; // the server has ended the connection
    if (from.session->on_answer(body(client)) != SessionError::none) return leave(client, "no session");
    x_checked->proved[client] = true;
    receive(client, StoreOpcode::set, k_session_key, from.session->proof());
  }

  void send_sealed(ClientId client, StoreOpcode op, std::string_view key, std::string_view value) {
    auto& from = x_clients[client];
    if (!from.session || from.session->channel() == nullptr) return;
    const auto sealed = from.session->channel()->seal(pack_inner({op, key, value}));
    receive(client, StoreOpcode::set, k_session_key, sealed);
  }

  void send_plain(ClientId client, StoreOpcode op, std::string_view key, std::string_view value) {
    receive(client, op, key, value);
  }

  void leave(ClientId client, const std::string& why) {
    auto& from = x_clients[client];
    x_table.forget_waits(client);
    x_gate->left(client, "10.0.0.1", why, x_now);
    const auto next = from.connection + 1;
    from = Client{};
    from.connection = next;
    x_gate->connected(client, "10.0.0.1", x_now);
    x_last_received.to[client].clear();
  }

  void pass_time(unsigned seconds) {
    x_now += std::chrono::seconds(seconds);
    x_gate->tick(x_table, x_now);
    x_gate->round(x_last_received, x_now);
  }

private:
  struct Client {
    std::string received;
    ProtocolDialect dialect = ProtocolDialect::unknown;
    bool greeted = false, proven = false;
    unsigned connection = 0; ///< number of connections before this one
    std::unique_ptr<AuthenticationClient> session;
  };

  static MessageLimits limits(const Client& client) {
    MessageLimits limits{.key_bytes = 100, .value_bytes = 1000, .keys = 20};
    if (client.proven) limits.own_bytes = 1 << 16;
    return limits;
  }

  void receive(ClientId client, StoreOpcode op, std::string_view key, std::string_view value) {
    TcpStoreMessage message;
    message.op = op;
    message.keys = {key};
    if (op == StoreOpcode::set) message.values = {value};
    if (op == StoreOpcode::compare_set) message.values = {std::string_view(), value};
    receive(client, message);
  }

  void receive(ClientId client, const TcpStoreMessage& message) {
    auto receipt = x_gate->receive(client, message, x_last_received, x_now);
    if (!receipt.taken && receipt.fault.empty())
      receipt.fault = x_table.apply(client, x_clients[client].dialect, message, x_last_received);
    x_clients[client].proven = x_clients[client].proven || receipt.proven;
    x_gate->round(x_last_received, x_now);
    if (!receipt.fault.empty()) leave(client, receipt.fault);
  }

  /// The value that the client was answered, without its length.
  std::string body(ClientId client) const {
    const auto& bytes = x_last_received.to[client];
    return bytes.size() < 8 ? std::string() : bytes.substr(8);
  }

  Rules x_rules;
  bool x_for_agents;
  StoreTable x_table;
  std::unique_ptr<ServerObserver> x_inner;
  std::unique_ptr<Checked> x_checked;
  std::unique_ptr<SessionGate> x_gate;
  RecordedAnswers x_last_received;
  std::array<Client, 3> x_clients;
  Time x_now = std::chrono::steady_clock::now();
};

std::string make_announcement(Input& input) {
  JoinRequest made;
  made.job = k_job;
  made.step = "0";
  made.rank = input.byte() % (k_ranks + 1);
  made.world_size = k_ranks + (input.byte() == 255 ? 1 : 0);
  made.local_rank = made.rank % 2;
  made.host = "node" + std::to_string(made.rank / 2);
  made.pid = 100 + made.rank;
  if (input.byte() == 1) made.failed = std::string(input.text(20));
  if (made.rank == 0) {
    made.decision = MasterEndpoint{"node0", k_port, AgentStoreUse::always, ""};
    made.nodes = {"node0", "node1"};
    made.tasks_per_node = {2, 2};
  }
  return pack_message(made);
}

std::string make_event(Input& input) {
  agent::AgentEvent made;
  const auto kind = input.byte() % 8;
  made.attempt = input.byte() % 3;
  const auto value = input.byte();
  if (kind == 1) made.what = agent::ServingEvent{};
  if (kind == 2) made.what = agent::EndedEvent{value % 2 == 1};
  if (kind == 3) made.what = agent::QuietEvent{value % 2 == 1};
  if (kind == 4) made.what = agent::StacksEvent{};
  if (kind == 5) made.what = agent::LeavingEvent{value % 32};
  if (kind >= 6) {
    agent::FailedEvent failed;
    failed.failure.attempt = made.attempt;
    failed.failure.rank = input.byte();
    failed.failure.host = "node1";
    failed.failure.status = static_cast<int>(input.byte()) << 8;
    failed.failure.message = std::string(input.text(10));
    made.what = failed;
  }
  return pack_message(made);
}

/// A message of hpcml's own that is right but for at most one byte.
struct Own {
  StoreOpcode op;
  std::string_view key;
  std::string value;
};

Own make_own(Input& input, unsigned number) {
  Own made{StoreOpcode::get, k_all_here_key, {}};
  switch (input.byte() % 8) {
  case 0: made = {StoreOpcode::compare_set, k_announce_key, make_announcement(input)}; break;
  case 1: made = {StoreOpcode::get, k_missing_key, {}}; break;
  case 2: made = {StoreOpcode::get, k_all_here_key, {}}; break;
  case 3: made = {StoreOpcode::compare_set, k_show_key, std::string(k_not_ours)}; break;
  case 4:
    made = {StoreOpcode::compare_set, agent::k_register_key,
            pack_message(
                agent::RegisterRequest{k_job, "", "node" + std::to_string(number), number, 1, number == 0})};
    break;
  case 5: made = {StoreOpcode::set, agent::k_event_key, make_event(input)}; break;
  case 6: made = {StoreOpcode::get, agent::k_order_key, {}}; break;
  default: made = {StoreOpcode::set, agent::k_event_key, std::string(input.text(64))}; break;
  }
  const auto at = input.byte(), by = input.byte();
  if (by % 4 == 0 && at < made.value.size()) made.value[at] = static_cast<char>(by);
  return made;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto mode = input.byte();
  Rules rules;
  rules.has_key = (mode & 1) != 0;
  const bool for_agents = (mode & 2) != 0;
  // As launchers and agents open their ports: agents without a key accept every message, ranks announcements.
  if (for_agents && !rules.has_key) rules.plain = PlainMessagePolicy::accepted;
  if (!for_agents && (!rules.has_key || (mode & 4) != 0)) rules.plain = PlainMessagePolicy::announcements;
  Port port(rules, for_agents);
  while (!input.is_over()) {
    const auto action = input.byte();
    const ClientId client = action % 3;
    switch (action / 3 % 8) {
    case 0:
    case 1: port.send_raw(client, input.text(input.byte())); break;
    case 2: {
      const auto number = input.byte() % (k_ranks + 1);
      const auto role = input.byte() % 8;
      port.shake_hands(client, role == 0 ? client : number,
                       role == 1    ? PeerRole::viewer
                       : for_agents ? PeerRole::agent
                                    : PeerRole::rank);
      break;
    }
    case 3:
    case 4:
    case 5: {
      const auto own = make_own(input, static_cast<unsigned>(client));
      port.send_sealed(client, own.op, own.key, own.value);
      break;
    }
    case 6: {
      const auto own = make_own(input, static_cast<unsigned>(client));
      port.send_plain(client, own.op, own.key, own.value);
      break;
    }
    default:
      if (input.byte() % 4 == 0)
        port.leave(client, "");
      else
        port.pass_time(input.byte());
    }
  }
  return 0;
}
