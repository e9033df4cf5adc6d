// SPDX-License-Identifier: MIT
// Attacks on the agents' channel by a client without a key and with a wrong one. With the right key the same
// client does end the run.
#include <catch2/catch.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "free_port.hpp"
#include "run/agent/agent_helper.hpp"
#include "run/store/channel_key.hpp"
#include "run/store/client.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using Words = std::vector<std::string>;

namespace {

/// What the hostile client says came of an attack.
std::string attack(unsigned port, const Words& words) {
  Words all = {HPCML_HOSTILE_CLIENT, "at=127.0.0.1:" + std::to_string(port), "step=test"};
  all.insert(all.end(), words.begin(), words.end());
  const auto output = util::run_process(all, util::EnvSnapshot::of_process(), std::chrono::seconds(60));
  return output ? std::string(util::trim(output->out + output->err)) : output.error().what;
}

/// Waits until somebody listens there.
bool is_open(unsigned port) {
  for (int i = 0; i < 3000; ++i, ::usleep(20'000)) {
    store::Client client("127.0.0.1", static_cast<std::uint16_t>(port));
    for (int k = 0; k < 50 && client.fd() >= 0 && !client.is_connected(); ++k, ::usleep(1000))
      client.advance();
    if (client.is_connected()) return true;
  }
  return false;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

} // namespace

TEST_CASE("clients without the key can neither join nor report") {
  const auto port = test::free_port();
  AgentProcess first(agent_at(port, 1, "sleep 2; echo ran $RANK of $WORLD_SIZE", 2), "node001");
  REQUIRE(is_open(port));
  const auto wrong = "key=" + store::SecretKey::make_random().to_hex();
  for (const auto* kind : {"kind=", "kind=failed", "kind=serving", "kind=leaving"}) {
    CHECK_THAT(attack(port, {kind, "rank=1", "agent"}), !Contains("joined") && !Contains("got an order"));
    CHECK_THAT(attack(port, {kind, "rank=1", wrong, "agent"}),
               !Contains("joined") && !Contains("got an order"));
  }
  AgentProcess second(agent_at(port, 1, "sleep 2; echo ran $RANK of $WORLD_SIZE", 2), "node002");
  const auto first_end = first.wait(), second_end = second.wait();
  CAPTURE(first_end.err, second_end.err);
  CHECK((first_end.code == 0 && second_end.code == 0));
  CHECK_THAT(first_end.out + second_end.out, Contains("ran 0 of 2") && Contains("ran 1 of 2"));
  CHECK(count(first_end.err, "rejected a client at 127.0.0.1: ") == 1);
  CHECK_THAT(first_end.err + second_end.err, !Contains("stranger") && !Contains("Xid"));
}

TEST_CASE("messages without the key do not change running ranks") {
  const auto port = test::free_port();
  AgentProcess first(agent_at(port, 1, "echo up; sleep 3; echo ran $RANK", 2), "node001");
  REQUIRE(is_open(port));
  AgentProcess second(agent_at(port, 1, "echo up; sleep 3; echo ran $RANK", 2), "node002");
  REQUIRE(first.shows("up"));
  for (const auto* kind : {"kind=failed", "kind=leaving", "kind=serving"})
    CHECK_THAT(attack(port, {kind, "rank=1", "agent"}), !Contains("joined"));
  const auto first_end = first.wait(), second_end = second.wait();
  CAPTURE(first_end.err, second_end.err);
  CHECK((first_end.code == 0 && second_end.code == 0));
  CHECK_THAT(first_end.out + second_end.out, Contains("ran 0") && Contains("ran 1"));
}

TEST_CASE("with the key the same client ends the run") {
  const auto port = test::free_port();
  AgentProcess first(agent_at(port, 1, "sleep 20", 2), "node001");
  REQUIRE(is_open(port));
  CHECK_THAT(attack(port, {"kind=failed", "rank=1", "key=" + secret_of_agents(), "agent"}),
             Contains("joined, then got an order"));
  const auto end = first.wait();
  CAPTURE(end.err);
  CHECK(end.code != 0);
  CHECK_THAT(end.err, Contains("(node002, ") && Contains("Xid"));
}

TEST_CASE("agents without any key work and print one note") {
  const auto port = test::free_port();
  const auto agent = [&](const char* host) {
    auto request =
        agent_at(port, 1, "echo ran $RANK of $WORLD_SIZE; env | grep -c HPCML_JOB_SECRET || true", 2);
    return std::make_unique<AgentProcess>(request, host, false);
  };
  const auto first = agent("node001");
  REQUIRE(is_open(port));
  const auto second = agent("node002");
  const auto first_end = first->wait(), second_end = second->wait();
  CAPTURE(first_end.err, second_end.err);
  CHECK((first_end.code == 0 && second_end.code == 0));
  CHECK_THAT(first_end.out + second_end.out, Contains("ran 0 of 2") && Contains("ran 1 of 2"));
  CHECK(count(first_end.err + second_end.err, "no key protects this run") == 1);
}

TEST_CASE("agents with and without a key reject each other") {
  const auto port = test::free_port();
  auto request = agent_at(port, 1, "true", 2);
  request.place->join_timeout = std::chrono::seconds(15);
  AgentProcess first(request, "node001");
  REQUIRE(is_open(port));
  request.place->join_timeout = std::chrono::seconds(3);
  AgentProcess second(request, "node002", false);
  const auto first_end = first.wait(), second_end = second.wait();
  CHECK((first_end.code != 0 && second_end.code != 0));
  CHECK_THAT(second_end.err, Contains("requires a key, and this one has none"));
  CHECK_THAT(first_end.err, Contains("it has no key"));
}

TEST_CASE("agents use the key file that --rdzv-conf sets") {
  const test::TempDirectory directory;
  const auto port = test::free_port();
  auto request = agent_at(port, 1, "echo ran $RANK of $WORLD_SIZE", 2);
  request.key_file = (directory / "key").string();
  REQUIRE(store::make_user_key(request.key_file));
  AgentProcess first(request, "node001", false);
  REQUIRE(is_open(port));
  CHECK_THAT(attack(port, {"kind=failed", "rank=1", "agent"}), !Contains("joined"));
  AgentProcess second(request, "node002", false);
  const auto first_end = first.wait(), second_end = second.wait();
  CAPTURE(first_end.err, second_end.err);
  CHECK((first_end.code == 0 && second_end.code == 0));
  CHECK_THAT(first_end.out + second_end.out, Contains("ran 0 of 2") && Contains("ran 1 of 2"));
  CHECK_THAT(first_end.err + second_end.err, !Contains("no key protects this run"));
}
