// SPDX-License-Identifier: MIT
// The parts of a store's server alone: memory of its clients, who they are, and whether the step can start.
#include <catch2/catch.hpp>

#include "run/store/buffer_budget.hpp"
#include "run/store/service_peers.hpp"
#include "run/store/step_start.hpp"

using namespace hpcml::store;
using Clients = std::vector<ClientId>;

namespace {

constexpr BufferBudget::Time at(int time) { return BufferBudget::Time(std::chrono::seconds(time)); }

} // namespace

TEST_CASE("one client may grow when memory is short") {
  BufferBudget buffers(10'000);
  CHECK(buffers.may_grow(1, 9'000));
  buffers.account(1, 0, 6'000);
  buffers.account(2, 0, 6'000);
  REQUIRE(buffers.is_short());
  CHECK(buffers.may_grow(3, BufferBudget::k_free)); // small messages always go on
  CHECK(buffers.may_grow(2, 6'000));
  CHECK_FALSE(buffers.may_grow(1, 6'000));
  buffers.add_paused(1);
  CHECK(buffers.take_resumed().empty());
  buffers.account(2, 6'000, 0); // its message is complete
  CHECK_FALSE(buffers.is_short());
  CHECK(buffers.take_resumed() == Clients{1});
  CHECK(buffers.take_resumed().empty());
}

TEST_CASE("paused clients resume when the growing one leaves") {
  BufferBudget buffers(1'000);
  buffers.account(1, 0, 5'000);
  buffers.account(2, 0, 5'000);
  CHECK(buffers.may_grow(1, 5'000));
  buffers.add_paused(2);
  buffers.account(1, 5'000, 0);
  CHECK(buffers.is_short());
  CHECK(buffers.take_resumed() == Clients{2});
}

TEST_CASE("a server is stalled after 10 s without memory") {
  BufferBudget buffers(1'000);
  CHECK_FALSE(buffers.is_stalled(at(0)));
  buffers.account(1, 0, 1'000);
  CHECK_FALSE(buffers.is_stalled(at(1)));
  CHECK_FALSE(buffers.is_stalled(at(10)));
  CHECK(buffers.is_stalled(at(11)));
  CHECK_FALSE(buffers.is_stalled(at(20)));
  CHECK(buffers.is_stalled(at(21)));
  buffers.account(1, 1'000, 0);
  CHECK_FALSE(buffers.is_stalled(at(22)));
  buffers.account(1, 0, 1'000);
  CHECK_FALSE(buffers.is_stalled(at(40)));
}

TEST_CASE("programs of other nodes count when they have spoken") {
  ServicePeers peers;
  const std::chrono::hours hour(1);
  for (const ClientId client : {1U, 2U, 3U}) peers.connect(client, client == 3 ? "10.0.0.9" : "10.0.0.1");
  peers.note_program(3, at(0)); // nothing is counted yet
  CHECK_FALSE(peers.has_programs_elsewhere(at(1), hour));
  peers.count_elsewhere({"10.0.0.1"});
  peers.note_program(1, at(10));
  CHECK_FALSE(peers.has_programs_elsewhere(at(11), hour));
  peers.note_program(3, at(10));
  CHECK(peers.has_programs_elsewhere(at(3609), hour));
  CHECK_FALSE(peers.has_programs_elsewhere(at(3610), hour));
  peers.remove(3);
  CHECK_FALSE(peers.has_programs_elsewhere(at(11), hour));
}

TEST_CASE("the last connection of rank 0's launcher is known") {
  ServicePeers peers;
  for (const ClientId client : {1U, 2U, 3U}) peers.connect(client, "10.0.0.1");
  for (const ClientId client : {1U, 2U, 2U}) peers.note_launcher(client), peers.note_leader(client);
  CHECK(peers.programs() == 1);
  CHECK_FALSE(peers.remove(3));
  CHECK_FALSE(peers.remove(1));
  CHECK(peers.remove(2));
  CHECK_FALSE(peers.remove(2));
  CHECK(peers.find(2) == nullptr);
  CHECK(peers.programs() == 0);
}

TEST_CASE("launchers get a reply when rank 0 decides or fails") {
  StepStart start;
  start.await_decision(1), start.await_decision(2), start.await_all(3), start.await_all(2);
  start.forget(2);
  CHECK(start.take_decided().empty());
  const bool fails = GENERATE(true, false);
  if (fails) start.fail("rank 0 exited"), start.fail("rank 1 exited");
  start.decide(MasterEndpoint{"nid1", 0, AgentStoreUse::allowed, {}});
  start.decide(MasterEndpoint{"nid2", 5, AgentStoreUse::allowed, {}});
  CHECK(start.take_decided() == Clients{1});
  CHECK(start.take_decided().empty());
  CHECK(start.take_waiting_for_all() == Clients{3});
  const auto reply = start.reply(29500);
  CHECK(reply.failed == (fails ? "rank 0 exited" : ""));
  CHECK((reply.decision.address == "nid1" && reply.decision.port == 29500));
}
