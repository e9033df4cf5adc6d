// SPDX-License-Identifier: MIT
// What reaches an observer behind the gate: hpcml's own messages in sessions, programs' messages always.
#include <catch2/catch.hpp>

#include <map>

#include "run/store/rendezvous_service.hpp"
#include "run/store/session_gate.hpp"

using namespace hpcml;
using namespace hpcml::store;
using Catch::Contains;
using Lines = std::vector<std::string>;

namespace {

const SecretKey k_key = SecretKey::make_random();
constexpr ClientId k_client = 7;

/// Notes what it is told, and answers own messages with their values.
class Recorder : public ServerObserver {
public:
  bool on_message(ClientId client, const TcpStoreMessage& message, AnswerSink& answers, Time) override {
    received_keys.emplace_back(message.keys.empty() ? "" : message.keys.front());
    if (received_keys.back().starts_with(k_own_keys) && !message.values.empty())
      answers.message(answers_all ? k_client : client, message.values.back());
    return received_keys.back().starts_with(k_own_keys);
  }
  void authenticated(ClientId, const PeerIdentity& identity, Time) override {
    identities.push_back(identity);
  }
  void round(AnswerSink& answers, Time) override {
    if (pushes) answers.message(k_client, "pushed");
  }
  Lines received_keys;
  std::vector<PeerIdentity> identities;
  bool pushes = false;
  bool answers_all = false; ///< the first client gets the answers to the others' messages
};

struct Taken : AnswerSink {
  void bytes(ClientId, std::string_view) override { FAIL("an answer without its length"); }
  void value(ClientId, const SharedValue&) override {}
  void message(ClientId, std::string_view body) override { bodies.emplace_back(body); }
  Lines bodies;
};

/// A gate, and one client of it.
struct Play {
  explicit Play(SessionGateOptions rules = {k_key, "12.0.1000"})
      : gate(std::move(rules), recorder, [this](const std::string& line) { lines.push_back(line); }) {
    gate.set_port(15000);
    gate.connected(k_client, "10.0.0.9", now);
  }
  MessageDisposition send(StoreOpcode op, std::string_view key, std::string_view value) {
    TcpStoreMessage message;
    message.op = op;
    message.keys = {key};
    if (op == StoreOpcode::set) message.values = {value};
    if (op == StoreOpcode::compare_set) message.values = {k_not_ours, value};
    return gate.receive(k_client, message, answers, now);
  }
  /// Runs the handshake of a client that has the key.
  void connect() {
    CHECK(send(StoreOpcode::compare_set, k_session_key, client.request()).fault.empty());
    REQUIRE(client.on_answer(answers.bodies.back()) == SessionError::none);
    const auto receipt = send(StoreOpcode::set, k_session_key, client.proof());
    CHECK((receipt.taken && receipt.proven && receipt.fault.empty()));
  }
  MessageDisposition send_sealed(const InnerMessage& message) {
    return send(StoreOpcode::set, k_session_key, client.channel()->seal(pack_inner(message)));
  }
  Recorder recorder;
  Lines lines;
  SessionGate gate;
  Taken answers;
  Time now = std::chrono::steady_clock::now();
  AuthenticationClient client{k_key, {PeerRole::rank, "12.0.1000", "0", 3}, 15000};
};

constexpr std::string_view k_question = "\x01hpcml/question";

} // namespace

TEST_CASE("a session's messages reach the observer, answers are sealed") {
  Play play;
  play.connect();
  CHECK(play.recorder.identities == std::vector<PeerIdentity>{{PeerRole::rank, "12.0.1000", "0", 3}});
  CHECK(play.send_sealed({StoreOpcode::compare_set, k_question, "why"}).fault.empty());
  CHECK(play.recorder.received_keys == Lines{std::string(k_question)});
  CHECK(play.client.channel()->open(play.answers.bodies.back()) == "why");
  play.recorder.pushes = true;
  play.gate.round(play.answers, play.now);
  CHECK(play.client.channel()->open(play.answers.bodies.back()) == "pushed");
}

TEST_CASE("hpcml's own messages outside of a session end the connection") {
  for (const auto op : {StoreOpcode::set, StoreOpcode::get, StoreOpcode::compare_set, StoreOpcode::add,
                        StoreOpcode::wait, StoreOpcode::delete_key, StoreOpcode::multi_get}) {
    Play play;
    const auto receipt = play.send(op, k_question, "x");
    CHECK((receipt.taken && !receipt.fault.empty() && !receipt.proven));
    CHECK(play.recorder.received_keys.empty());
  }
  Play play;
  TcpStoreMessage hidden; // one of several keys
  hidden.op = StoreOpcode::multi_get;
  hidden.keys = {"a", k_question};
  CHECK_FALSE(play.gate.receive(k_client, hidden, play.answers, play.now).fault.empty());
  CHECK(play.recorder.received_keys.empty());
}

TEST_CASE("programs' messages pass without a key") {
  Play play;
  for (const auto op : {StoreOpcode::set, StoreOpcode::get, StoreOpcode::add})
    CHECK(play.send(op, "default/0", "x").fault.empty());
  CHECK(play.recorder.received_keys == Lines(3, "default/0"));
}

TEST_CASE("a session is not mixed with other messages") {
  for (const std::string_view key : {std::string_view("default/0"), k_question}) {
    Play play;
    play.connect();
    CHECK_FALSE(play.send(StoreOpcode::set, key, "x").fault.empty());
    CHECK(play.recorder.received_keys.empty());
  }
  Play twice;
  twice.connect();
  CHECK_FALSE(twice.send(StoreOpcode::compare_set, k_session_key, twice.client.request()).fault.empty());
  Play garbage;
  garbage.connect();
  for (const std::string body : {"", "x", "\x01", "default/0"}) {
    Play bad;
    bad.connect();
    CHECK_FALSE(bad.send(StoreOpcode::set, k_session_key, bad.client.channel()->seal(body)).fault.empty());
  }
  // A sealed message cannot be one for programs' keys.
  CHECK_FALSE(garbage.send_sealed({StoreOpcode::set, "default/0", "x"}).fault.empty());
  CHECK(garbage.recorder.received_keys.empty());
}

TEST_CASE("an unproven or repeated message ends the connection") {
  Play early;
  CHECK(early.send(StoreOpcode::compare_set, k_session_key, early.client.request()).fault.empty());
  REQUIRE(early.client.on_answer(early.answers.bodies.back()) == SessionError::none);
  CHECK_FALSE(early.send_sealed({StoreOpcode::get, k_question, ""}).fault.empty());
  Play play;
  play.connect();
  const auto sealed = play.client.channel()->seal(pack_inner({StoreOpcode::get, k_question, ""}));
  CHECK(play.send(StoreOpcode::set, k_session_key, sealed).fault.empty());
  CHECK_THAT(play.send(StoreOpcode::set, k_session_key, sealed).fault,
             Contains("rank 3 of step 0 sent a modified"));
  CHECK(play.recorder.received_keys.size() == 1);
}

TEST_CASE("without a key ranks may announce themselves, and nothing else") {
  Play play({k_key, "12.0.1000", PlainMessagePolicy::announcements});
  CHECK(play.send(StoreOpcode::compare_set, k_announce_key, "x").fault.empty());
  CHECK_FALSE(play.send(StoreOpcode::compare_set, k_show_key, "").fault.empty());
  CHECK_FALSE(play.send(StoreOpcode::get, k_all_here_key, "").fault.empty());
  CHECK(play.recorder.received_keys == Lines{std::string(k_announce_key)});
  CHECK(play.recorder.identities.empty());
}

TEST_CASE("a plain client's message causes sealed answers to sessions") {
  Play play({k_key, "12.0.1000", PlainMessagePolicy::announcements});
  play.client = AuthenticationClient(k_key, {PeerRole::rank, "12.0.1000", "0", 0}, 15000);
  play.connect();
  play.recorder.answers_all = true;
  TcpStoreMessage message;
  message.op = StoreOpcode::compare_set;
  message.keys = {k_announce_key};
  message.values = {k_not_ours, "x"};
  CHECK(play.gate.receive(8, message, play.answers, play.now).fault.empty());
  CHECK(play.client.channel()->open(play.answers.bodies.back()) == "x");
}

TEST_CASE("a store without a key rejects a rank with one") {
  Play play({k_key, "12.0.1000", PlainMessagePolicy::announcements}); // the client is rank 3
  CHECK_THAT(play.send(StoreOpcode::compare_set, k_session_key, play.client.request()).fault,
             Contains("rank 3 of step 0 has a key, but this store has none"));
  CHECK(play.client.on_answer(play.answers.bodies.back()) == SessionError::no_key);
}

TEST_CASE("another job's client is rejected without a line") {
  Play play;
  const AuthenticationClient stranger(k_key, {PeerRole::rank, "13.0.1000", "0", 3}, 15000);
  const auto receipt = play.send(StoreOpcode::compare_set, k_session_key, stranger.request());
  CHECK_FALSE(receipt.fault.empty());
  play.gate.left(k_client, "10.0.0.9", receipt.fault, play.now);
  CHECK(play.lines.empty());
}

TEST_CASE("lines about rejected clients are bounded") {
  RejectionLog log;
  auto now = std::chrono::steady_clock::now();
  Lines lines;
  const auto add = [&](const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); };
  add(log.add("10.0.0.9", "it has no key", now));
  CHECK(lines == Lines{"rejected a client at 10.0.0.9: it has no key"});
  for (int i = 0; i < 10'000; ++i) {
    add(log.add("10.0." + std::to_string(i % 200) + ".9", "it has no key", now));
    now += std::chrono::seconds(10);
    add(log.tick(now));
  }
  CHECK(lines.size() <= 8 + 4); // 28 hours
  CHECK_THAT(lines.back(), Contains("more clients, the last one at 10.0."));
}
