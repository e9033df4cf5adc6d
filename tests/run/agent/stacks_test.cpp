// SPDX-License-Identifier: MIT
// Ranks that stand still are grouped by where they are, the odd ones first, and what their tools print is
// understood.
#include "run/agent/stacks.hpp"

#include <catch2/catch.hpp>

#include "holds.hpp"
#include "run/agent/agent_protocol.hpp"
#include "run/agent/stack_tools.hpp"

using namespace hpcml;
using namespace hpcml::agent;
using hpcml::test::holds;

namespace {

const std::vector<std::string> k_wait = {"wait (comm.py:7)", "main (train.py:3)"};
const std::vector<std::string> k_load = {"recv (data.py:12)", "main (train.py:2)"};

MainThreadStack at(unsigned rank, const std::vector<std::string>& frames,
                   const std::string& state = "sleeps") {
  return {rank, "n" + std::to_string(rank / 4), state, frames};
}

std::vector<unsigned> ranks_of(const StackGroup& group) {
  std::vector<unsigned> ranks;
  for (const auto& rank : group.ranks) ranks.push_back(rank.rank);
  return ranks;
}

} // namespace

TEST_CASE("ranks with equal frames are one group, and the odd ones come first") {
  const auto groups = group_places(
      {at(3, k_wait), at(1, k_load, "runs"), at(0, k_wait, "runs"), at(2, k_wait), at(4, {}), at(5, {"x"})});
  REQUIRE(groups.size() == 4);
  CHECK(ranks_of(groups[0]) == std::vector<unsigned>{1});
  CHECK(ranks_of(groups[1]) == std::vector<unsigned>{4});
  CHECK(ranks_of(groups[2]) == std::vector<unsigned>{5});
  CHECK(ranks_of(groups[3]) == std::vector<unsigned>{0, 2, 3});
  CHECK(group_places({}).empty());
}

TEST_CASE("ranks that wait for others come last") {
  const std::vector<std::string> connects = {"__GI___clock_nanosleep", "c10d::TCPStore::waitForWorkers()",
                                             "main"};
  const std::vector<std::string> sleeps = {"__GI___clock_nanosleep", "pysleep", "main"};
  const std::vector<std::string> reads = {"recv", "c10d::detail::recvBytes", "gloo::rendezvous"};
  std::vector<MainThreadStack> places = {at(0, connects)};
  for (unsigned rank = 1; rank < 8; ++rank) places.push_back(at(rank, rank < 4 ? sleeps : reads));
  const auto groups = group_places(places);
  REQUIRE(groups.size() == 3);
  CHECK(ranks_of(groups[0]) == std::vector<unsigned>{1, 2, 3});
  CHECK(ranks_of(groups[1]) == std::vector<unsigned>{0});
  CHECK(render_odd_ranks(groups) ==
        "ranks 1-3: pysleep; rank 0 (n0): c10d::TCPStore::waitForWorkers(); 4 others: recv");
}

TEST_CASE("only functions of frames are read") {
  const std::vector<std::string> loads = {"__getitem__ (allreduce_data.py:12)", "main (train.py:2)"};
  const auto groups = group_places({at(0, loads), at(1, {"broadcast (collectives.py:7)"})});
  REQUIRE(groups.size() == 2);
  CHECK(ranks_of(groups[0]) == std::vector<unsigned>{0});
  CHECK(render_odd_ranks(groups) ==
        "rank 0 (n0): __getitem__ (allreduce_data.py:12); rank 1 (n0): broadcast (collectives.py:7)");
}

TEST_CASE("without frames the state says who is where") {
  const auto groups = group_places(
      {at(0, {}, "sleeps in futex"), at(1, {}, "sleeps in recvfrom"), at(2, {}, "sleeps in futex")});
  REQUIRE(groups.size() == 2);
  CHECK(ranks_of(groups[0]) == std::vector<unsigned>{1});
}

TEST_CASE("the odd ranks are said in one line") {
  std::vector<MainThreadStack> places;
  for (unsigned rank = 0; rank < 16; ++rank) places.push_back(at(rank, rank == 9 ? k_load : k_wait));
  CHECK(render_odd_ranks(group_places(places)) ==
        "rank 9 (n2): recv (data.py:12); 15 others: wait (comm.py:7)");
  places[3].frames = places[4].frames = {"a\x1b[2J"};
  CHECK(render_odd_ranks(group_places(places)) ==
        "rank 9 (n2): recv (data.py:12); 2 others: a\\x1b[2J; 13 others: wait (comm.py:7)");
  places[5].frames = {"b"};
  places[6].frames = {"c"};
  CHECK(render_odd_ranks(group_places(places)) ==
        "rank 5 (n1): b; rank 6 (n1): c; 2 more places; 11 others: wait (comm.py:7)");
  CHECK(render_odd_ranks(group_places({at(0, {}, "sleeps in futex"), at(1, {}, "sleeps in futex")})) ==
        "all 2 ranks: sleeps in futex");
  CHECK(render_odd_ranks(group_places({at(0, k_load)})) == "rank 0 (n0): recv (data.py:12)");
  CHECK(render_odd_ranks({}).empty());
}

TEST_CASE("the file of stacks begins with the groups") {
  CHECK(render_places(group_places({at(0, k_wait), at(1, k_load), at(2, k_wait), at(5, k_wait)}),
                      "nothing was written for 60 s") ==
        R"(Stack traces of 4 ranks (nothing was written for 60 s).
2 different places; ranks that wait for others are last, else the place with the fewest ranks is first.

rank 1 on n0
  sleeps
    recv (data.py:12)
    main (train.py:2)

3 ranks: 0,2,5 on n0, n1
  sleeps
    wait (comm.py:7)
    main (train.py:3)
)");
  std::vector<MainThreadStack> many;
  for (unsigned rank = 0; rank < 80; ++rank) many.push_back(at(rank, k_wait));
  CHECK(holds(render_places(group_places(many), "x"),
              "80 ranks: 0-79 on n0, n1, n2, n3, n4, n5, n6, n7 and 12 more\n"));
}

TEST_CASE("all threads of a rank are shown, equal ones together, wrappers and helpers as well") {
  RankStacks rank;
  rank.rank = 3;
  rank.program = 1;
  rank.remarks = {"gdb: ptrace: Operation not permitted."};
  rank.processes = {{10, "bash", "", {{10, "bash", "sleeps in wait4 (do_wait)", {}}}},
                    {11,
                     "python3",
                     "py-spy",
                     {{12, "loader", "sleeps in futex", {"get (queue.py:1)"}},
                      {11, "MainThread", "runs", k_load},
                      {13, "pool\x1b", "sleeps in futex", {"get (queue.py:1)"}}}}};
  CHECK(render_threads(rank, "n7") == R"(rank 3 on n7
  gdb: ptrace: Operation not permitted.
  process 10 bash
    thread 10 bash: sleeps in wait4 (do_wait)
  process 11 python3, by py-spy
    2 threads loader, pool\x1b: sleeps in futex
      get (queue.py:1)
    thread 11 MainThread: runs
      recv (data.py:12)
      main (train.py:2)
)");
  const auto place = place_of(rank, "n7");
  CHECK(place.frames == k_load); // of its main thread
  CHECK(place.state == "runs");
  CHECK(place_of({.rank = 4, .processes = {}, .program = 0, .remarks = {}}, "n7").state == "has ended");
}

TEST_CASE("places arrive on another node as they were sent, and bytes that are none are none") {
  const std::vector<MainThreadStack> places = {at(7, k_wait), at(8, {std::string("a\0b\xff", 4)}), at(9, {})};
  const auto bytes = store::pack_message(AgentEvent{0, StacksEvent{places}});
  const auto event = store::unpack_message<AgentEvent>(bytes);
  REQUIRE(event);
  const auto& back = std::get<StacksEvent>(event->what).stacks;
  REQUIRE(back.size() == 3);
  CHECK(back[0].host == "n1");
  CHECK(back[0].frames == k_wait);
  CHECK(back[1].frames == places[1].frames);
  CHECK(back[2].rank == 9);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK_FALSE(store::unpack_message<AgentEvent>(std::string_view(bytes).substr(0, length)));
  CHECK_FALSE(store::unpack_message<AgentEvent>(bytes + "x"));
}

TEST_CASE("what py-spy prints is understood") {
  const auto threads = parse_py_spy(R"(Process 6475: /usr/bin/python3 w.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 6475 (idle): "MainThread"
    Condition.wait (threading.py:327)
    main (w.py:6)
Thread 6524 (active+gil): "loader (x): "q""
    get_it (w.py:2)
Thread 0x7F00 (idle)
    f (a.py)
)");
  REQUIRE(threads.size() == 3);
  CHECK(threads[0].tid == 6475);
  CHECK(threads[0].name == "MainThread");
  CHECK(threads[0].frames == std::vector<std::string>{"Condition.wait (threading.py:327)", "main (w.py:6)"});
  CHECK(threads[1].tid == 6524);
  CHECK(threads[1].name == "loader (x): \"q\"");
  CHECK(threads[2].tid == 0);
  CHECK(parse_py_spy("Error: Permission denied\n    at x\n").empty());
}

TEST_CASE("what gdb prints is understood, without what differs from rank to rank") {
  const auto threads = parse_gdb(R"([New LWP 6524]
0x00007fe4 in poll () from /lib/libc.so.6

Thread 2 (Thread 0x7fe4c94eb6c0 (LWP 6524) "pt_main"):
#0  0x00007fe4c9b1d1ac in __GI___poll (fds=0x7ffd, nfds=2, timeout=-1) at ../sysdeps/poll.c:29
#1  ncclCommInitRank (comm=0x1, id=..., f=g (2)) at init.cc:1840
#2  0x00007f in c10d::Work::wait(std::chrono::duration<long, std::ratio<1l, 1000l> >) () from /opt/torch/lib/libtorch_cpu.so
#10 0x00007f in std::function<void ()>::operator()() const (this=0x7ffd) at /usr/include/c++/12/std_function.h:591
#11 0x000055ac41b5f081 in _ZN4gloo4Pair4waitEi () from /opt/torch/lib/libtorch_cpu.so
#12 0x000055ac41b5f081 in _start ()
#13 <signal handler called>

Thread 1 (process 6475):
#0  main () at a.c:1
[Inferior 1 (process 6475) detached]
)");
  REQUIRE(threads.size() == 2);
  CHECK(threads[0].tid == 6524);
  CHECK(threads[0].name == "pt_main");
  CHECK(threads[0].frames ==
        std::vector<std::string>{
            "__GI___poll (poll.c:29)", "ncclCommInitRank (init.cc:1840)",
            "c10d::Work::wait(std::chrono::duration<long, std::ratio<1l, 1000l> >) (libtorch_cpu.so)",
            "std::function<void ()>::operator()() const (std_function.h:591)",
            "gloo::Pair::wait(int) (libtorch_cpu.so)", "_start", "<signal handler called>"});
  CHECK(threads[1].tid == 6475);
  CHECK(threads[1].frames == std::vector<std::string>{"main (a.c:1)"});
}
