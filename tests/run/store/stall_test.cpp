// SPDX-License-Identifier: MIT
// Who waits for whom, in words: torch's keys, scenes of ranks, and what a server hears.
#include <catch2/catch.hpp>

#include <set>

#include "run/store/key_meaning.hpp"
#include "run/store/store_watch.hpp"

using namespace hpcml::store;
using Kind = KeyMeaning::Kind;
using State = RankStatus::State;
using std::chrono::seconds;

namespace {

const RankStatus::Time k_now{std::chrono::hours(10)};

RankStatus rank(unsigned number, State state = State::connected) {
  RankStatus rank_status;
  rank_status.state = state;
  rank_status.rank = number;
  rank_status.short_name = std::to_string(number);
  rank_status.name = "rank " + rank_status.short_name + " (node" + rank_status.short_name + ")";
  rank_status.since = k_now - seconds(40);
  return rank_status;
}

RankStatus waiting(unsigned number, const std::string& key, const std::string& mark = {}, long time = 30) {
  RankStatus rank_status = rank(number);
  rank_status.waits_for = key;
  rank_status.waits_since = k_now - seconds(time);
  rank_status.mark = mark;
  return rank_status;
}

StoreSnapshot scene_of(std::vector<RankStatus> ranks, std::set<std::string> keys = {}) {
  StoreSnapshot scene;
  scene.now = k_now;
  scene.world_size = static_cast<unsigned>(ranks.size());
  scene.ranks = std::move(ranks);
  scene.has_key = [keys = std::move(keys)](const std::string& key) { return keys.count(key) > 0; };
  return scene;
}

class NoAnswers : public AnswerSink {
public:
  void bytes(ClientId, std::string_view) override {}
  void value(ClientId, const SharedValue&) override {}
};

/// A server's watch and table together.
struct Served {
  Served() { watch.begins(table); }
  void receive(ClientId client, StoreOpcode op, const std::string& key, std::int64_t number = 0,
               long at = 0) {
    TcpStoreMessage message;
    message.op = op;
    message.number = number;
    if (!key.empty()) message.keys = {key};
    message.values.assign(op == StoreOpcode::set ? 1 : 0, "x");
    if (known.insert(client).second) watch.connected(client, "10.0.0." + std::to_string(client));
    watch.on_message(client, message, k_now + seconds(at));
    if (op == StoreOpcode::ping) return;
    REQUIRE(table.apply(client, ProtocolDialect::torch2, message, answers).empty());
  }
  StoreTable table;
  StoreWatch watch;
  RankRegistry registry;
  NoAnswers answers;
  std::set<ClientId> known;
};

} // namespace

TEST_CASE("torch's keys tell whose group they are and which member") {
  struct Row {
    const char* key;
    Kind kind;
    const char* group;
    int member;
  };
  // As the clients of 2.13 and 1.13 set them; those of NCCL as torch 2's source names them.
  const Row rows[] = {
      {"/default_pg/0//cpu//0/2", Kind::member, "the default group", 2},
      {"/default_pg/0//12//cpu//0/0", Kind::member, "group 12", 0},
      {"//worker/attempt_0/default_pg/0/0/rank_1", Kind::member, "the default group", 1},
      {"//worker/attempt_3/default_pg/2/0/1", Kind::member, "group 2", 1},
      {"//worker/attempt_0/default_pg/2/SEQ_NUM_STORE_KEY", Kind::sequence, "group 2", -1},
      {"//worker/attempt_0/default_pg/store_based_barrier_key:2", Kind::barrier, "group 2", -1},
      {"/default_pg/0//store_based_barrier_key:3:last_worker", Kind::barrier, "group 3", -1},
      {"/default_pg/0//cuda//0", Kind::unique_id, "the default group", -1},
      {"/default_pg/0//3//cuda//0:1", Kind::unique_id, "group 3", -1},
      {"/default_pg/0//tp\x1b[2J//cpu//0/1", Kind::member, "the group 'tp\\x1b[2J'", 1},
      {"/private/0/1", Kind::member, "the group 'private'", 1},
      {"/default_pg/0//model_ready", Kind::other, "", -1},
      {"epoch", Kind::other, "", -1},
      {"", Kind::other, "", -1},
      {"///", Kind::other, "", -1},
  };
  for (const auto& row : rows) {
    INFO(row.key);
    const auto meaning = read_key(row.key);
    CHECK(meaning.kind == row.kind);
    CHECK(meaning.group == row.group);
    CHECK(meaning.member.has_value() == (row.member >= 0));
    if (meaning.member) CHECK(static_cast<int>(*meaning.member) == row.member);
  }
  CHECK(read_key("/default_pg/0//1//cpu//0/3").place == read_key("/default_pg/0//1//cpu//0/17").place);
  CHECK(read_key("/default_pg/0//1//cpu//0/3").place != read_key("/default_pg/0//2//cpu//0/3").place);
}

TEST_CASE("of many that wait for a unique id the first of the group is named, and what it does") {
  std::vector<RankStatus> ranks;
  for (unsigned i = 0; i < 16; ++i)
    ranks.push_back(i == 0 || i == 9 ? rank(i) : waiting(i, "/default_pg/0//cuda//0"));
  const auto stalls = find_stalls(scene_of(ranks));
  REQUIRE(stalls.size() == 1);
  CHECK(stalls[0].waiters.size() == 14);
  CHECK(stalls[0].missing == std::vector<unsigned>{0});
  CHECK(
      stalls[0].text ==
      "14 ranks (1-8,10-15) have waited 30 s for the unique ID of the default group: its first rank sets it; "
      "rank 0 "
      "(node0) has not set it: it last accessed the store 40 s ago and does not wait there");
}

TEST_CASE("missing members after the first four are ranges") {
  std::vector<RankStatus> ranks = {waiting(0, "/default_pg/0//cpu//0/1", "/default_pg/0//cpu//0/0")};
  for (unsigned number = 1; number < 12; ++number) ranks.push_back(rank(number, State::started));
  const auto stalls = find_stalls(scene_of(std::move(ranks), {"/default_pg/0//cpu//0/0"}));
  REQUIRE(stalls.size() == 1);
  CHECK(stalls[0].missing.size() == 11);
  CHECK(stalls[0].text.find("; and ranks 5-11") != std::string::npos);
}

TEST_CASE("members that have not entered a group are found between those that have") {
  const std::string group = "/default_pg/0//3//cpu//0/";
  // Ranks 1, 4, 6, 7 are its members; member 1 has not come: rank 2, 3 or 4, and 3 is gone.
  auto ranks = std::vector<RankStatus>{rank(0),
                                       waiting(1, group + "1", group + "0"),
                                       rank(2),
                                       rank(3, State::lost),
                                       rank(4),
                                       rank(5),
                                       waiting(6, group + "1", group + "2", 60),
                                       waiting(7, group + "1", group + "3")};
  auto stalls = find_stalls(scene_of(ranks));
  REQUIRE(stalls.size() == 1);
  CHECK(stalls[0].waited == seconds(60));
  CHECK_FALSE(stalls[0].certain);
  CHECK(stalls[0].missing == std::vector<unsigned>{3, 2, 4, 5});
  ranks[2] = waiting(2, "/default_pg/0//2//cpu//0/1", "/default_pg/0//2//cpu//0/0", 10);
  stalls = find_stalls(scene_of(ranks));
  REQUIRE(stalls.size() == 2);
  CHECK(stalls[0].text.find("rank 2 (node2): it also waits, for group 2 (10 s)") != std::string::npos);
}

TEST_CASE("a program's own key, a wrong world size and nobody who waits have sentences, too") {
  auto stalls = find_stalls(scene_of({waiting(0, "ready"), rank(1, State::absent), rank(2, State::started)}));
  REQUIRE(stalls.size() == 1);
  CHECK(stalls[0].text.starts_with(
      "rank 0 (node0) has waited 30 s for the key 'ready': no process has set it; rank 1 (node1)"));
  CHECK(stalls[0].text.find("its program has not connected to the store") != std::string::npos);
  stalls = find_stalls(scene_of({rank(0, State::started), waiting(1, "ready"), rank(2, State::absent)}));
  CHECK(stalls.at(0).text.find("its program starts when all tasks have connected") != std::string::npos);
  stalls = find_stalls(scene_of({waiting(0, "data/0/1", "other"), rank(1)}));
  CHECK(stalls.at(0).what == "the key 'data/0/1'");
  stalls = find_stalls(scene_of({waiting(0, "/default_pg/0//cpu//0/2"), rank(1)}));
  CHECK(stalls.at(0).text.find("its WORLD_SIZE differs") != std::string::npos);
  CHECK(find_stalls(scene_of({rank(0), rank(1)})).empty());
}

TEST_CASE("a wait lasts from its first turn, and what comes between begins it anew") {
  Served served;
  served.receive(5, StoreOpcode::ping, "", 77);
  served.receive(5, StoreOpcode::set, "/default_pg/0//cpu//0/0", 0, 0);
  served.receive(5, StoreOpcode::wait, "/default_pg/0//cpu//0/1", 0, 1);
  served.receive(5, StoreOpcode::cancel_wait, "", 0, 5);
  served.receive(5, StoreOpcode::wait, "/default_pg/0//cpu//0/1", 0, 5);
  auto report = served.watch.report(served.registry, 0, k_now + seconds(11));
  REQUIRE(report.stalls.size() == 1);
  CHECK(report.stalls[0].waited == seconds(10));
  CHECK(report.stalls[0].missing == std::vector<unsigned>{1});
  CHECK(served.watch.due_messages(served.registry, seconds(20), k_now + seconds(20)).empty());
  CHECK(served.watch.due_messages(served.registry, seconds(20), k_now + seconds(21)).size() == 1);
  CHECK(served.watch.due_messages(served.registry, seconds(20), k_now + seconds(59)).empty());
  CHECK(served.watch.due_messages(served.registry, seconds(20), k_now + seconds(61)).size() == 1);
  served.receive(6, StoreOpcode::set, "/default_pg/0//cpu//0/1", 0, 70);
  const auto over = served.watch.due_messages(served.registry, seconds(20), k_now + seconds(71));
  CHECK(over == std::vector<std::string>{"no rank waits for the default group any more"});
  CHECK(served.watch.due_messages(served.registry, seconds(20), k_now + seconds(500)).empty());
}

TEST_CASE("two that take themselves for one member are said also while nobody waits in the store") {
  Served served;
  const std::string key = "/default_pg/0//1//cpu//0/2";
  served.receive(7, StoreOpcode::ping, "", 100);
  served.receive(8, StoreOpcode::ping, "", 101);
  served.receive(7, StoreOpcode::set, key);
  served.receive(8, StoreOpcode::set, key, 0, 1);
  CHECK(served.watch.due_messages(served.registry, seconds(20), k_now + seconds(20)).empty());
  const auto lines = served.watch.due_messages(served.registry, seconds(20), k_now + seconds(21));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "process 100 at 10.0.0.7 and process 101 at 10.0.0.8 both entered group 1 as member 2: "
                    "they create their groups in a different order, or with different ranks");
  CHECK(served.watch.due_messages(served.registry, seconds(20), k_now + seconds(22)).empty());
}

TEST_CASE("two that take themselves for one member are said also where the first has gone on meanwhile") {
  Served served;
  const std::string key = "/default_pg/0//1//cpu//0/2";
  served.receive(7, StoreOpcode::ping, "", 100);
  served.receive(8, StoreOpcode::ping, "", 101);
  served.receive(7, StoreOpcode::set, key);
  served.receive(7, StoreOpcode::set, "/default_pg/0//2//cpu//0/3", 0, 1);
  served.receive(8, StoreOpcode::set, key, 0, 2);
  const auto stalls = served.watch.report(served.registry, 0, k_now + seconds(5)).stalls;
  REQUIRE(stalls.size() == 1);
  CHECK(stalls[0].text.find("process 100 at 10.0.0.7 and process 101 at 10.0.0.8 both entered group 1") == 0);
}

TEST_CASE("a member's key that is set again is no second member where it cannot be") {
  Served served;
  const std::string key = "/default_pg/0//1//cpu//0/2";
  SECTION("the same program sets it again") {
    served.receive(7, StoreOpcode::set, key);
    served.receive(7, StoreOpcode::set, key, 0, 1);
  }
  SECTION("the same program does, over another connection") {
    for (const ClientId client : {7U, 8U}) {
      served.watch.connected(client, "10.0.0.9");
      served.known.insert(client);
      served.receive(client, StoreOpcode::ping, "", 100);
      served.receive(client, StoreOpcode::set, key);
    }
  }
  SECTION("the first one has gone, and its connection's number is another's now") {
    served.receive(7, StoreOpcode::set, key);
    served.watch.left(7, served.registry, k_now);
    served.watch.connected(7, "10.0.0.9");
    served.receive(8, StoreOpcode::set, key, 0, 1);
    served.receive(7, StoreOpcode::set, "mine", 0, 1);
  }
  SECTION("a key of the program's own that looks like one") {
    served.receive(7, StoreOpcode::set, "progress/0/5");
    served.receive(7, StoreOpcode::set, "progress/0/6");
    served.receive(8, StoreOpcode::set, "progress/0/5", 0, 1);
  }
  CHECK(served.watch.report(served.registry, 0, k_now + seconds(50)).stalls.empty());
}

TEST_CASE("of two that take themselves for one member the lower rank is named first, whoever came first") {
  Served served;
  const std::string hosts[] = {"nid1", "nid1", "nid2", "nid2"};
  for (unsigned number = 0; number < 4; ++number) {
    JoinRequest who{"12.0", "0", number, 4, number % 2, hosts[number], 1000 + number};
    if (number == 0) {
      who.nodes = {"nid1", "nid2"};
      who.tasks_per_node = {2, 2};
    }
    (void)served.registry.announce(who, "10.0.0." + std::to_string(number), k_now);
  }
  for (const unsigned number : {3, 2}) {
    served.receive(number, StoreOpcode::ping, "", 1000 + number);
    (void)served.registry.program_came(number, "10.0.0." + std::to_string(number), 1000 + number, k_now);
    served.receive(number, StoreOpcode::set, "/default_pg/0//cpu//0/2");
  }
  const auto stalls = served.watch.report(served.registry, 0, k_now + seconds(5)).stalls;
  REQUIRE(stalls.size() == 1);
  CHECK(stalls[0].text == "rank 2/4 (nid2, local 0) and rank 3/4 (nid2, local 1) both entered the default "
                          "group as member 2: they have the same RANK");
}

TEST_CASE("torch 1's ranks that ask a counter again and again wait for who has not counted") {
  Served served;
  const std::string key = "//worker/attempt_0/default_pg/store_based_barrier_key:1";
  for (ClientId client : {5U, 6U, 7U})
    served.receive(client, StoreOpcode::set,
                   "//worker/attempt_0/default_pg/0/0/rank_" + std::to_string(client - 5));
  for (ClientId client : {5U, 7U}) {
    served.receive(client, StoreOpcode::add, key, 1, 1);
    for (long at = 1; at < 40; at += 2) served.receive(client, StoreOpcode::add, key, 0, at);
  }
  const auto report = served.watch.report(served.registry, 0, k_now + seconds(40));
  REQUIRE(report.stalls.size() == 1);
  CHECK(report.stalls[0].waiters == std::vector<std::string>{"0", "2"});
  CHECK(report.stalls[0].missing == std::vector<unsigned>{1});
}

TEST_CASE("store counts programs that set up separate worlds") {
  const std::string first = "/default_pg/0//cpu//0/0";
  Served served;
  for (ClientId client : {5U, 7U}) {
    served.receive(client, StoreOpcode::ping, "", client * 100);
    served.receive(client, StoreOpcode::set, first);
    CHECK(served.watch.worlds().worlds_of_one() == (client == 5 ? 0 : 2));
  }
  served.receive(5, StoreOpcode::set, first); // again: the same program
  CHECK(served.watch.report(served.registry, 0, k_now).worlds.worlds_of_one() == 2);
  // Other groups than the default one may consist of any ranks.
  served.receive(8, StoreOpcode::ping, "", 800);
  served.receive(8, StoreOpcode::set, "/default_pg/0//3//cpu//0/0");
  CHECK(served.watch.worlds().alone == 2);
  served.receive(8, StoreOpcode::set, "/default_pg/0//cpu//0/1");
  CHECK(served.watch.worlds().joined);
  CHECK(served.watch.worlds().worlds_of_one() == 0);
}

TEST_CASE("requests for NCCL's unique id show a joined world") {
  Served served;
  served.receive(5, StoreOpcode::set, "/default_pg/0//cuda//0");
  CHECK_FALSE(served.watch.worlds().joined);
  served.receive(5, StoreOpcode::get, "/default_pg/0//cuda//0"); // its own
  served.receive(7, StoreOpcode::wait, "/default_pg/0//cpu//0/0");
  CHECK_FALSE(served.watch.worlds().joined);
  served.receive(7, StoreOpcode::get, "/default_pg/0//cuda//0");
  CHECK(served.watch.worlds().joined);
}

TEST_CASE("a report travels whole, and bytes that are none are refused") {
  StoreReport report{16, 15, 14, 1, 3, 99, ~0ULL, {3, true}, {"rank 3 has not arrived"}, {}};
  report.stalls.push_back(
      {"group 3", "a\nkey", seconds(31), {"0", "process 7 at ::1"}, {9, 10}, false, "text"});
  const auto bytes = pack_message(report);
  const auto again = unpack_message<StoreReport>(bytes);
  REQUIRE(again);
  CHECK(pack_message(*again) == bytes);
  CHECK(again->stalls.at(0).missing == std::vector<unsigned>{9, 10});
  CHECK(again->worlds.alone == 3);
  CHECK(again->worlds.joined);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    CHECK_FALSE(unpack_message<StoreReport>(bytes.substr(0, cut)));
  CHECK_FALSE(unpack_message<StoreReport>("?"));
}
