// SPDX-License-Identifier: MIT
// Sessions in memory: what both sides accept, and each attack on the messages between them.
#include <catch2/catch.hpp>

#include <deque>
#include <random>

#include "random_numbers.hpp"
#include "run/store/packed.hpp"
#include "run/store/session.hpp"

using namespace hpcml;
using namespace hpcml::store;

namespace {

constexpr std::uint16_t k_port = 15000;

PeerIdentity rank_of(unsigned number) { return {PeerRole::rank, "12.0.1000", "0", number}; }

/// A client and a server, and the messages of their handshake.
struct Pair {
  explicit Pair(const SecretKey& client_key, std::optional<SecretKey> server_key,
                PeerIdentity who = rank_of(3), std::uint16_t dialled = k_port)
      : client(client_key, std::move(who), dialled), server(std::move(server_key), "12.0.1000", k_port) {}
  /// Runs the handshake; the client's error comes first.
  SessionError connect() {
    std::string answer;
    server_error = server.on_request(client.request(), answer);
    if (const auto error = client.on_answer(answer); error != SessionError::none) return error;
    return server_error = server.on_proof(client.proof());
  }
  std::string send_to_server(std::string_view body) {
    const auto sealed = client.channel()->seal(body);
    return std::string(server.channel()->open(sealed).value_or("rejected"));
  }
  std::string send_to_client(std::string_view body) {
    const auto sealed = server.channel()->seal(body);
    return std::string(client.channel()->open(sealed).value_or("rejected"));
  }
  AuthenticationClient client;
  AuthenticationServer server;
  SessionError server_error = SessionError::none;
};

const SecretKey k_key = SecretKey::make_random();

/// A request of another version, with what that may have added.
std::string request_of_version(unsigned version) {
  WireWriter packed("hpcml session request");
  packed.number(version);
  packed.text("something new");
  return packed.take();
}

} // namespace

TEST_CASE("a session carries messages both ways and names the client") {
  Pair pair(k_key, k_key);
  REQUIRE(pair.connect() == SessionError::none);
  CHECK(pair.server.is_established());
  CHECK(pair.server.identity() == rank_of(3));
  for (const char* body : {"first", "", "third"}) {
    CHECK(pair.send_to_server(body) == body);
    CHECK(pair.send_to_client(body) == body);
  }
  const std::string large(5 << 20, 'x');
  CHECK((pair.send_to_server(large) == large));
}

TEST_CASE("sides with different keys reject each other") {
  Pair pair(SecretKey::make_random(), k_key);
  CHECK(pair.connect() == SessionError::wrong_key);
  CHECK_FALSE(pair.client.channel());
  CHECK_FALSE(pair.server.is_established());
  // A client that does not care about the server's proof does not get further.
  Pair careless(k_key, k_key);
  std::string answer;
  REQUIRE(careless.server.on_request(careless.client.request(), answer) == SessionError::none);
  WireWriter forged("hpcml session proof");
  forged.text(std::string(32, '\0'));
  CHECK(careless.server.on_proof(forged.take()) == SessionError::wrong_key);
  CHECK(careless.server.on_proof(careless.client.proof()) == SessionError::malformed);
  CHECK_FALSE(careless.server.channel());
}

TEST_CASE("a side with a key rejects one without") {
  Pair pair(k_key, std::nullopt);
  CHECK(pair.connect() == SessionError::no_key);
  CHECK(pair.server_error == SessionError::key_required);
  CHECK_FALSE(pair.client.channel());
}

TEST_CASE("a challenge is not accepted without the key") {
  // A server that has no key can neither make one up nor reuse the one of another session.
  Pair recorded(k_key, k_key), pair(k_key, k_key);
  std::string answer;
  REQUIRE(recorded.server.on_request(recorded.client.request(), answer) == SessionError::none);
  CHECK(pair.client.on_answer(answer) == SessionError::wrong_key);
  CHECK_FALSE(pair.client.channel());
}

TEST_CASE("a relay on another port is detected before the proof") {
  Pair pair(k_key, k_key, rank_of(3), k_port + 1);
  CHECK(pair.connect() == SessionError::relayed);
  CHECK(pair.client.proof().empty());
  Pair tunnel(k_key, k_key, rank_of(3), 0);
  CHECK(tunnel.connect() == SessionError::none);
}

TEST_CASE("a recorded session cannot be replayed to the server") {
  Pair recorded(k_key, k_key);
  REQUIRE(recorded.connect() == SessionError::none);
  const auto sealed = recorded.client.channel()->seal("rank 0 decides");
  AuthenticationServer server(k_key, "12.0.1000", k_port);
  std::string answer;
  REQUIRE(server.on_request(recorded.client.request(), answer) == SessionError::none);
  CHECK(server.on_proof(recorded.client.proof()) == SessionError::wrong_key);
  CHECK_FALSE(server.channel());
  // Nor into another session that is established.
  Pair second_pair(k_key, k_key);
  REQUIRE(second_pair.connect() == SessionError::none);
  CHECK_FALSE(second_pair.server.channel()->open(sealed));
}

TEST_CASE("the server's proof is not accepted as the client's") {
  AuthenticationServer server(k_key, "12.0.1000", k_port);
  const AuthenticationClient client(k_key, rank_of(3), k_port);
  std::string answer;
  REQUIRE(server.on_request(client.request(), answer) == SessionError::none);
  WireReader challenge(answer, "hpcml session challenge");
  (void)challenge.number();
  (void)challenge.text();
  (void)challenge.number(65535);
  WireWriter reflected("hpcml session proof");
  reflected.text(challenge.text());
  REQUIRE(challenge.whole());
  CHECK(server.on_proof(reflected.take()) == SessionError::wrong_key);
}

TEST_CASE("a message is accepted once, unchanged and in order") {
  Pair pair(k_key, k_key);
  REQUIRE(pair.connect() == SessionError::none);
  auto& client = *pair.client.channel();
  auto& server = *pair.server.channel();
  const auto first = client.seal("first"), second = client.seal("second");
  CHECK_FALSE(server.open(second)); // reordered
  CHECK(server.open(first) == "first");
  CHECK_FALSE(server.open(first));                         // repeated
  CHECK_FALSE(client.open(first));                         // reflected
  for (std::size_t size = 0; size < second.size(); ++size) // truncated
    CHECK_FALSE(server.open(std::string_view(second).substr(0, size)));
  CHECK_FALSE(server.open(second + "x"));
  for (std::size_t bit = 0; bit < 8 * second.size(); ++bit) { // changed
    auto changed = second;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    CHECK_FALSE(server.open(changed));
  }
  CHECK(server.open(second) == "second");
}

TEST_CASE("each bit of the handshake matters") {
  const auto flip = [](std::string bytes, std::size_t bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    return bytes;
  };
  const Pair whole(k_key, k_key);
  for (std::size_t bit = 0; bit < 8 * whole.client.request().size(); ++bit) {
    Pair pair(k_key, k_key);
    std::string answer;
    (void)pair.server.on_request(flip(pair.client.request(), bit), answer);
    CHECK(pair.client.on_answer(answer) != SessionError::none);
    CHECK_FALSE(pair.client.channel());
  }
  for (std::size_t bit = 0, bits = 1; bit < bits; ++bit) {
    Pair pair(k_key, k_key);
    std::string answer;
    REQUIRE(pair.server.on_request(pair.client.request(), answer) == SessionError::none);
    bits = 8 * answer.size();
    CHECK(pair.client.on_answer(flip(answer, bit)) != SessionError::none);
    CHECK_FALSE(pair.client.channel());
  }
  for (std::size_t bit = 0, bits = 1; bit < bits; ++bit) {
    Pair pair(k_key, k_key);
    std::string answer;
    REQUIRE(pair.server.on_request(pair.client.request(), answer) == SessionError::none);
    REQUIRE(pair.client.on_answer(answer) == SessionError::none);
    bits = 8 * pair.client.proof().size();
    CHECK(pair.server.on_proof(flip(pair.client.proof(), bit)) != SessionError::none);
    CHECK_FALSE(pair.server.channel());
  }
}

TEST_CASE("an identity cannot be changed on the way") {
  for (const auto& identity : {rank_of(0), PeerIdentity{PeerRole::agent, "12.0.1000", "0", 3},
                               PeerIdentity{PeerRole::rank, "12.0.1000", "1", 3}}) {
    Pair honest(k_key, k_key), forger(k_key, k_key, identity);
    std::string answer;
    REQUIRE(honest.server.on_request(forger.client.request(), answer) == SessionError::none);
    CHECK(honest.client.on_answer(answer) == SessionError::wrong_key);
  }
}

TEST_CASE("another version is named by both sides") {
  AuthenticationServer server(k_key, "12.0.1000", k_port);
  std::string answer;
  CHECK(server.on_request(request_of_version(7), answer) == SessionError::version);
  CHECK(server.client_version() == 7);
  WireWriter rejection("hpcml session reject");
  rejection.number(7);
  rejection.text("something new");
  AuthenticationClient client(k_key, rank_of(3), k_port);
  CHECK(client.on_answer(rejection.take()) == SessionError::version);
  CHECK(client.server_version() == 7);
  AuthenticationClient same(k_key, rank_of(3), k_port);
  CHECK(same.on_answer(answer) == SessionError::version);
  CHECK(same.server_version() == k_session_version);
}

TEST_CASE("a server of another job rejects without a proof") {
  AuthenticationServer server(k_key, "13.0.1000", k_port);
  AuthenticationClient client(k_key, rank_of(3), k_port);
  std::string answer;
  CHECK(server.on_request(client.request(), answer) == SessionError::other_job);
  CHECK(client.on_answer(answer) == SessionError::other_job);
  CHECK(answer.find("13.0") == std::string::npos);
}

TEST_CASE("a client's first message is limited and printable") {
  AuthenticationServer server(k_key, std::string(300, 'j'), k_port);
  std::string answer;
  const AuthenticationClient long_job(k_key, {PeerRole::rank, std::string(300, 'j'), "0", 0}, k_port);
  CHECK(server.on_request(long_job.request(), answer) == SessionError::malformed);
  AuthenticationServer plain(k_key, "12.0.1000", k_port);
  const AuthenticationClient escape(k_key, {PeerRole::rank, "12.0.1000", "\033[31m", 0}, k_port);
  CHECK(plain.on_request(escape.request(), answer) == SessionError::malformed);
  CHECK(plain.identity().step.empty());
}

TEST_CASE("random bytes never establish a session") {
  std::mt19937 random(34);
  for (int round = 0; round < 20'000; ++round) {
    Pair pair(k_key, k_key);
    std::string answer;
    REQUIRE(pair.server.on_request(pair.client.request(), answer) == SessionError::none);
    const auto mangle = [&](std::string bytes) {
      for (unsigned changes = test::pick(random, 1, 6); changes > 0 && !bytes.empty(); --changes) {
        const auto at = random() % bytes.size();
        switch (random() % 4) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes.erase(at, test::pick(random, 1, 20)); break;
        case 2: bytes.insert(at, test::pick(random, 1, 20), static_cast<char>(random())); break;
        default: bytes.resize(at);
        }
      }
      return bytes;
    };
    const auto changed = mangle(answer);
    if (changed != answer) CHECK(pair.client.on_answer(changed) != SessionError::none);
    Pair second(k_key, k_key);
    const auto request = mangle(second.client.request());
    std::string answer_bytes;
    (void)second.server.on_request(request, answer_bytes);
    if (request != second.client.request())
      CHECK(second.client.on_answer(answer_bytes) != SessionError::none);
    Pair third(k_key, k_key);
    REQUIRE(third.server.on_request(third.client.request(), answer) == SessionError::none);
    REQUIRE(third.client.on_answer(answer) == SessionError::none);
    const auto proof = mangle(third.client.proof());
    if (proof != third.client.proof()) CHECK(third.server.on_proof(proof) != SessionError::none);
  }
}
