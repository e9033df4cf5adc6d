// SPDX-License-Identifier: MIT
// Who is missing, in words; and hpcml's own messages as bytes.
#include <catch2/catch.hpp>

#include "run/store/rank_registry.hpp"

using namespace hpcml;
using std::chrono::seconds;
using store::JoinRequest;
using store::RankRegistry;
using Lines = std::vector<std::string>;

namespace {

const RankRegistry::Time k_start{std::chrono::hours(5)};

/// Four nodes of four tasks.
const Lines k_nodes = {"nid1", "nid2", "nid3", "nid4"};

JoinRequest of_rank(unsigned rank, const std::string& host, unsigned local, unsigned world = 16) {
  JoinRequest who{"12.0", "0", rank, world, local, host, 1000 + rank};
  if (rank == 0) {
    who.decision.emplace();
    who.nodes = k_nodes;
    who.tasks_per_node = {4, 4, 4, 4};
  }
  return who;
}

JoinRequest block(unsigned rank) { return of_rank(rank, k_nodes[rank / 4], rank % 4); }
JoinRequest cyclic(unsigned rank) { return of_rank(rank, k_nodes[rank % 4], rank / 4); }

template <class Deal> RankRegistry all_but(const std::vector<unsigned>& absent, const Deal& deal) {
  RankRegistry registry;
  for (unsigned rank = 0; rank < 16; ++rank)
    if (std::find(absent.begin(), absent.end(), rank) == absent.end())
      CHECK(registry.announce(deal(rank), "10.0.0." + deal(rank).host.substr(3), k_start).empty());
  return registry;
}

} // namespace

TEST_CASE("a rank that has not come is named with its node after 20 s, and later ever more rarely") {
  auto registry = all_but({9}, block);
  CHECK_FALSE(registry.complete());
  CHECK(registry.due_messages(k_start + seconds(19), 0).empty());
  CHECK(registry.due_messages(k_start + seconds(20), 0) ==
        Lines{"rank 9/16 (nid3, local 1) has not connected for 20 s: its task has not started, has exited, "
              "or has not reached hpcml launch"});
  CHECK(registry.due_messages(k_start + seconds(59), 0).empty());
  CHECK(registry.due_messages(k_start + seconds(61), 0) ==
        Lines{"rank 9/16 (nid3, local 1) has not connected for 61 s: its task has not started, has exited, "
              "or has not reached hpcml launch"});
  CHECK(registry.announce(block(9), "10.0.0.3", k_start + seconds(75)) ==
        Lines{"rank 9/16 (nid3, local 1) connected, 75 s after the first rank"});
  CHECK(registry.complete());
  CHECK(registry.due_messages(k_start + seconds(1000), 0).empty());
}

TEST_CASE("the place of a missing rank follows the order in which the others were dealt") {
  CHECK(all_but({9}, cyclic).name(9) == "rank 9/16 (nid2, local 2)");
  CHECK(all_but({9}, block).name(9) == "rank 9/16 (nid3, local 1)");
  // By hand: node 4 first. Nothing tells then which of the nodes that lack a task it is on.
  const auto reversed = [](unsigned rank) { return of_rank(rank, k_nodes[3 - rank / 4], rank % 4); };
  CHECK(all_but({9, 1}, reversed).name(9) == "rank 9/16 (tasks are missing on nid2, nid4)");
}

TEST_CASE("without rank 0 the place of a rank that has not come is not known") {
  RankRegistry registry;
  registry.announce(block(5), "10.0.0.2", k_start);
  CHECK(registry.name(0) == "rank 0/16");
  CHECK(registry.name(5) == "rank 5/16 (nid2, local 1)");
}

TEST_CASE("many missing ranks are named by their nodes") {
  auto registry = all_but({3, 8, 9, 10, 11, 14}, block);
  CHECK(registry.due_messages(k_start + seconds(25), 0) ==
        Lines{"rank 3/16 (nid1) has not connected for 25 s: its task has not started, has exited, or has not "
              "reached hpcml launch",
              "ranks 8-11/16 (nid3) have not connected for 25 s: their tasks have not started, have exited, "
              "or have not reached hpcml launch",
              "rank 14/16 (nid4) has not connected for 25 s: its task has not started, has exited, or has "
              "not reached hpcml launch"});
}

TEST_CASE("missing ranks after the first nodes are ranges") {
  RankRegistry registry;
  for (const unsigned rank : {0U, 95U}) {
    JoinRequest who{"12.0", "0", rank, 96, rank % 8, "n" + std::to_string(10 + rank / 8), 1000 + rank};
    if (rank == 0) {
      who.decision.emplace();
      for (unsigned node = 0; node < 12; ++node) who.nodes.push_back("n" + std::to_string(10 + node));
      who.tasks_per_node.assign(12, 8);
    }
    CHECK(registry.announce(who, "10.0.0.1", k_start).empty());
  }
  const auto lines = registry.due_messages(k_start + seconds(25), 0);
  REQUIRE(lines.size() == 9);
  CHECK(lines.front() == "ranks 1-7/96 (n10) have not connected for 25 s: their tasks have not started, have "
                         "exited, or have not reached hpcml launch");
  CHECK(lines.back() == "and ranks 64-94 on 4 other nodes have not connected for 25 s: their tasks have not "
                        "started, have exited, or have not reached hpcml launch");
}

TEST_CASE("a program that does not come although its task was started is told apart") {
  auto registry = all_but({}, block);
  CHECK(registry.complete());
  const auto first = k_start + seconds(30);
  for (unsigned rank = 0; rank < 16; ++rank)
    if (rank != 6)
      CHECK(registry.program_came(100 + rank, "10.0.0." + std::to_string(rank / 4 + 1), 1000 + rank, first)
                .empty());
  CHECK(registry.rank_of_client(107) == 7U);
  CHECK(registry.known_clients() == 15);
  CHECK(registry.due_messages(first + seconds(19), 0).empty());
  CHECK(registry.due_messages(first + seconds(20), 1).empty()); // an unknown client may be its
  CHECK(registry.due_messages(first + seconds(20), 0) ==
        Lines{"rank 6/16 (nid2, local 2) has not connected to the store 20 s after the first program: its "
              "task is running"});
  CHECK(registry.program_came(106, "10.0.0.2", 1006, first + seconds(33)) ==
        Lines{"the program of rank 6/16 (nid2, local 2) connected, 33 s after the first program"});
  registry.client_left(106);
  CHECK_FALSE(registry.rank_of_client(106));
  CHECK(registry.members()[6].came);
  CHECK_FALSE(registry.members()[6].program);
}

TEST_CASE("the program of rank 0 is not missing before all tasks have connected") {
  auto registry = all_but({5}, block);
  const auto first = k_start + seconds(1);
  for (unsigned rank = 1; rank < 16; ++rank)
    if (rank != 5)
      CHECK(registry.program_came(100 + rank, "10.0.0." + std::to_string(rank / 4 + 1), 1000 + rank, first)
                .empty());
  CHECK(
      registry.due_messages(first + seconds(25), 0) ==
      Lines{"rank 5/16 (nid2, local 1) has not connected for 26 s: its task has not started, has exited, or "
            "has not reached hpcml launch"});
}

TEST_CASE("a process number says nothing without its node") {
  auto registry = all_but({}, block);
  CHECK(registry.program_came(50, "10.0.0.9", 1006, k_start).empty());
  CHECK(registry.known_clients() == 0);
}

TEST_CASE("an announcement and a welcome are read as they were written, and cut ones are none") {
  auto who = block(0);
  who.decision = store::MasterEndpoint{"nid1-hsn0", 29500, store::AgentStoreUse::always, "[fd00::1]:29501"};
  const auto bytes = store::pack_message(who);
  const auto read = store::unpack_message<store::JoinRequest>(bytes);
  REQUIRE(read);
  CHECK(read->job == "12.0");
  CHECK(read->host == "nid1");
  CHECK(read->pid == 1000);
  CHECK(read->nodes == k_nodes);
  CHECK(read->tasks_per_node == std::vector<unsigned>{4, 4, 4, 4});
  REQUIRE(read->decision);
  CHECK(*read->decision == *who.decision);
  const auto welcome = store::pack_message(
      store::JoinReply{store::JoinError::job, "belongs to another job", {}, *who.decision});
  REQUIRE(store::unpack_message<store::JoinReply>(welcome));
  CHECK(store::unpack_message<store::JoinReply>(welcome)->refusal == store::JoinError::job);
  CHECK(store::unpack_message<store::JoinReply>(welcome)->refused == "belongs to another job");
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    CHECK_FALSE(store::unpack_message<store::JoinRequest>(std::string_view(bytes).substr(0, cut)));
  for (std::size_t cut = 0; cut < welcome.size(); ++cut)
    CHECK_FALSE(store::unpack_message<store::JoinReply>(std::string_view(welcome).substr(0, cut)));
  CHECK_FALSE(store::unpack_message<store::JoinRequest>(bytes + "x"));
  CHECK_FALSE(store::unpack_message<store::JoinReply>(bytes));
  who.rank = 16;
  CHECK_FALSE(store::unpack_message<store::JoinRequest>(store::pack_message(who)));
}
