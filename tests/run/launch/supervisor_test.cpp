// SPDX-License-Identifier: MIT
// A launch that starts, supervises and ends its ranks, in memory: output, signals, failures, what is left.
#include <catch2/catch.hpp>

#include <cerrno>

#include "run/launch/launch_play.hpp"
#include "run/launch/supervisor.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using Catch::EndsWith;

TEST_CASE("each rank has its place and all have one endpoint") {
  LaunchPlay play({"out $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $NODE_RANK $GROUP_RANK $MASTER_ADDR "
                   "$MASTER_PORT; exit 0"});
  play.request.processes_per_node = 3;
  CHECK(play.run() == 0);
  CHECK(play.out() == "[0] 0 0 3 3 0 0 127.0.0.1 40000\n[1] 1 1 3 3 0 0 127.0.0.1 40000\n"
                      "[2] 2 2 3 3 0 0 127.0.0.1 40000\n");
}

TEST_CASE("launch starts a rank for each set of GPUs outside a step") {
  struct Row {
    std::optional<unsigned> gpus_per_task;
    std::size_t ranks;
  };
  for (const auto& row : {Row{{}, 4}, Row{0, 1}, Row{1, 4}, Row{2, 2}, Row{3, 1}, Row{4, 1}}) {
    CAPTURE(row.gpus_per_task.value_or(99));
    LaunchPlay play({"exit 0"});
    play.request.processes_per_node.reset();
    play.request.gpus_per_task = row.gpus_per_task;
    play.context.env.set("CUDA_VISIBLE_DEVICES", "0,1,2,3");
    play.run();
    CHECK(play.system.executed().size() == row.ranks);
  }
}

TEST_CASE("standard output and error stay apart") {
  LaunchPlay play({"part out$RANK; err err$RANK; exit 0", "part o; 1 s; part ut; err err1; exit 0"});
  CHECK(play.run() == 0);
  CHECK(play.out() == "[0] out0\n[1] out\n");
  CHECK(play.err() == "[0] err0\n[1] err1\n");
}

TEST_CASE("unfinished line is shown while the rank runs") {
  LaunchPlay play({"part waiting"});
  std::string shown;
  play.system.after(0.1, [&] { shown = play.out(); });
  play.system.after(0.3, [&] { shown += "," + play.out(); });
  play.system.signal_after(1, "TERM");
  CHECK(play.run() == 128 + SIGTERM);
  CHECK(shown == ",[0] waiting");
}

TEST_CASE("first failure decides the exit code and stops the others") {
  LaunchPlay play({"60 s", "1 s; exit 7", "5 s; exit 9"});
  CHECK(play.run() == 7);
  CHECK_THAT(play.err(), Contains("rank 1/3 (here, local 1) exited with code 7 after 1.0 s") &&
                             Contains("the others were stopped"));
  CHECK(play.system.signals() == "1 s: TERM, CONT");
  CHECK(play.system.left().empty());
}

TEST_CASE("rank that is killed is reported with its signal") {
  LaunchPlay play({"die SEGV", "60 s"});
  CHECK(play.run() == 128 + SIGSEGV);
  CHECK_THAT(play.err(), Contains("rank 0/2") && Contains("was killed by SIGSEGV"));
}

TEST_CASE("rank that ignores TERM is killed with its children") {
  LaunchPlay play({"5 s; exit 3", "start 0 | TERM: ignore"});
  play.system.helpers = {"| TERM: ignore"};
  play.request.grace = std::chrono::seconds(1);
  CHECK(play.run() == 3);
  CHECK(play.system.signals() == "5 s: TERM, CONT; 6 s: KILL");
  CHECK(play.system.left().empty());
}

TEST_CASE("signals reach every rank once") {
  for (const auto* name : {"USR1", "USR2", "INT", "TERM", "HUP", "QUIT"}) {
    CAPTURE(name);
    LaunchPlay play({"| " + std::string(name) + ": out got; 1 s; exit 0"});
    play.request.processes_per_node = 2;
    play.system.signal_after(1, name);
    CHECK(play.run() == 0);
    CHECK(play.out() == "[0] got\n[1] got\n");
    const bool ends = std::string(name) == "INT" || std::string(name) == "TERM";
    CHECK(play.system.signals() == "1 s: " + std::string(name) + (ends ? ", CONT" : ""));
  }
}

TEST_CASE("second signal kills ranks that ignore the first") {
  LaunchPlay play({"start 0 | TERM: out got"});
  play.system.helpers = {"| TERM: ignore"};
  play.request.processes_per_node = 2;
  for (const double seconds : {1.0, 1.1, 1.6}) play.system.signal_after(seconds, "TERM"); // 1.1: the same
  CHECK(play.run() == 128 + SIGTERM);
  CHECK(play.out() == "[0] got\n[1] got\n");
  CHECK(play.system.signals() == "1 s: TERM, CONT; 1.6 s: KILL");
  CHECK_THAT(play.err(), Contains("the ranks did not exit after SIGTERM and are killed"));
  CHECK(play.system.left().empty());
}

TEST_CASE("children of ranks that exit after a signal are killed") {
  LaunchPlay play({"start 0 | TERM: exit 0"});
  play.system.helpers = {"| TERM: ignore"};
  play.request.processes_per_node = 2;
  play.request.grace = std::chrono::seconds(1);
  play.system.signal_after(1, "TERM");
  CHECK(play.run() == 0);
  CHECK(play.system.signals() == "1 s: TERM, CONT; 2 s: KILL");
  CHECK(play.system.left().empty());
}

TEST_CASE("ranks have the default grace period outside a job") {
  LaunchPlay play({"| TERM: ignore"});
  play.system.signal_after(1, "TERM");
  CHECK(play.run() == 128 + SIGTERM);
  CHECK(play.system.signals() == "1 s: TERM, CONT; 31 s: KILL");
}

TEST_CASE("ranks of a job are killed only by Slurm after a signal") {
  LaunchPlay play({"| TERM: 300 s; exit 0"});
  play.context.env.set("SLURM_JOB_ID", "7");
  play.system.signal_after(1, "TERM");
  CHECK(play.run() == 0);
  CHECK(play.system.signals() == "1 s: TERM, CONT");
  CHECK(play.system.seconds() == 301);
}

TEST_CASE("program below a shell has its time to exit") {
  for (const auto* name : {"TERM", "USR1", "INT", "QUIT", "HUP"}) {
    CAPTURE(name);
    LaunchPlay play({"start 0"}); // the shell dies at once
    play.system.helpers = {"| " + std::string(name) + ": 400 ms; out saved; exit 0"};
    play.request.processes_per_node = 2;
    play.system.signal_after(1, name);
    CHECK(play.run() == 128 + signal_of(name));
    CHECK(play.out() == "[0] saved\n[1] saved\n");
    CHECK(play.system.left().empty());
  }
}

TEST_CASE("programs of other ranks keep their grace after a failure") {
  LaunchPlay play({"1 s; exit 7", "start 0"});
  play.system.helpers = {"| TERM: 500 ms; out saved; exit 0"};
  CHECK(play.run() == 7);
  CHECK(play.out() == "[1] saved\n");
}

TEST_CASE("processes in other sessions are killed after a failure") {
  LaunchPlay play({"leave 0; leave 1; 1 s; exit 3", "leave 0; leave 1"});
  play.system.helpers = {"| TERM: ignore", "leave 2; exit 0", "| TERM: ignore | HUP: ignore"};
  CHECK(play.run() == 3);
  CHECK(play.system.left().empty());
}

TEST_CASE("processes that a successful rank leaves continue") {
  LaunchPlay play({"leave 0; exit 0"});
  play.system.helpers = {"60 s; exit 0"};
  CHECK(play.run() == 0);
  CHECK(play.system.signals().empty());
  CHECK(play.system.left().size() == 1);
}

TEST_CASE("launch ends by the signal that ended its ranks") {
  for (const auto* name : {"TERM", "INT", "USR1", "HUP"}) {
    CAPTURE(name);
    LaunchPlay play({"60 s", "60 s"});
    play.system.signal_after(1, name);
    CHECK(play.run() == 128 + signal_of(name));
    CHECK(play.system.ended_by() == signal_of(name));
  }
}

TEST_CASE("launch exits with the code that ranks chose at a signal") {
  LaunchPlay play({"| TERM: exit 5"});
  play.system.signal_after(1, "TERM");
  CHECK(play.run() == 5);
  CHECK(play.system.ended_by() == 0);
}

TEST_CASE("Ctrl-Z stops the ranks and then launch") {
  LaunchPlay play({"out before; 10 s; out after; exit 0"});
  play.system.signal_after(2, "TSTP");
  std::string stopped;
  play.system.after(60, [&] { stopped = play.out(); });
  play.system.signal_after(61, "CONT");
  CHECK(play.run() == 0);
  CHECK(stopped == "[0] before\n");
  CHECK(play.out() == "[0] before\n[0] after\n");
  CHECK(play.system.signals() == "2 s: TSTP; 61 s: CONT");
}

TEST_CASE("Ctrl-backslash at a terminal ends the ranks") {
  LaunchPlay play({"| QUIT: ignore"});
  play.system.has_terminal = true;
  play.system.signal_after(1, "QUIT");
  CHECK(play.run() == 128 + SIGQUIT);
  CHECK(play.system.signals() == "1 s: QUIT, CONT; 31 s: KILL");
}

TEST_CASE("time of a suspended machine does not count as grace") {
  LaunchPlay play({"| TERM: 20 s; out saved; exit 0"});
  play.system.signal_after(1, "TERM");
  play.system.after(5, [&] { play.system.suspend(600); });
  CHECK(play.run() == 0);
  CHECK(play.out() == "[0] saved\n");
  CHECK(play.system.signals() == "1 s: TERM, CONT");
}

TEST_CASE("launch stops waiting for a blocked reader after a signal") {
  LaunchPlay play({"out text; exit 0"});
  play.system.out.room = 0;
  play.system.signal_after(3, "TERM");
  CHECK(play.run() == 128 + SIGTERM);
  CHECK(play.system.seconds() == 5);
  CHECK_THAT(play.err(), Contains("the reader of standard output is blocked: 9 bytes are lost"));
}

TEST_CASE("second signal ends the wait for a blocked reader") {
  LaunchPlay play({"out text; exit 0"});
  play.system.out.room = 0;
  for (const double seconds : {3.0, 3.5}) play.system.signal_after(seconds, "INT");
  CHECK(play.run() == 128 + SIGINT);
  CHECK(play.system.seconds() == 3.5);
}

TEST_CASE("launch waits for a slow reader without a signal") {
  LaunchPlay play({"out text; exit 0"});
  play.system.out.room = 0;
  play.system.after(3600, [&] { play.system.out.room = std::string::npos; });
  CHECK(play.run() == 0);
  CHECK(play.out() == "[0] text\n");
}

TEST_CASE("slow reader that makes progress gets all output") {
  LaunchPlay play({"out text; exit 0"});
  play.system.out.room = 0;
  play.system.signal_after(1, "TERM");
  for (const double seconds : {2.0, 3.5, 5.0}) play.system.after(seconds, [&] { play.system.out.room += 3; });
  CHECK(play.run() == 0);
  CHECK(play.out() == "[0] text\n");
}

TEST_CASE("full disk is reported with its name") {
  LaunchPlay play({"out hi; exit 0"});
  play.system.out.error = ENOSPC;
  CHECK(play.run() == k_cannot_set_up);
  CHECK_THAT(play.err(), Contains("cannot write to standard output: disk full: No space left on device"));
}

TEST_CASE("rank ends by SIGPIPE when the reader goes away") {
  LaunchPlay play({"out one; 1 s; out two; 1 s; out three; 1 s; out four; 60 s; exit 0"});
  play.system.out.room = 8;
  play.system.after(0.5, [&] { play.system.out.error = EPIPE; });
  CHECK(play.run() == 128 + SIGPIPE);
  CHECK(play.out() == "[0] one\n");
  CHECK(play.system.seconds() == 3);
}

TEST_CASE("descriptors above the hard limit are rejected before a rank starts") {
  LaunchPlay play({"exit 0"});
  play.request.processes_per_node = 64;
  play.system.self().limits[RLIMIT_NOFILE] = {100, 100};
  CHECK(play.run() == k_cannot_set_up);
  CHECK_THAT(play.err(),
             Contains("64 ranks require 256 open files, which exceeds the hard limit (100, ulimit -Hn)"));
  CHECK(play.system.executed().empty());
}

TEST_CASE("launch raises its own descriptor limit and not the ranks'") {
  LaunchPlay play({"exit 0"});
  play.request.processes_per_node = 64;
  play.node.limits.open_files = {100, 1000};
  play.system.self().limits[RLIMIT_NOFILE] = {100, 1000};
  CHECK(play.run() == 0);
  for (const auto& rank : play.system.executed()) CHECK(rank.limits.at(RLIMIT_NOFILE).rlim_max == 1000);
  CHECK(play.system.self().limits[RLIMIT_NOFILE].rlim_cur == 100);
}

TEST_CASE("no rank is left when the start fails") {
  struct Row {
    const char* call;
    int number;
    int error;
    std::size_t started;
    const char* message;
  };
  // Forks: the guard, the process that starts the ranks, the ranks. Pipes: the guard's, two of each rank.
  for (const auto& row :
       {Row{"fork", 1, EAGAIN, 0, "cannot start the process that cleans up after the ranks: Resource temp"},
        {"fork", 2, EAGAIN, 0, "cannot start the process that starts the ranks: Resource temp"},
        {"fork", 3, EAGAIN, 0, "cannot start a rank: Resource temporarily unavailable"},
        {"fork", 5, ENOMEM, 2, "cannot start a rank: Cannot allocate memory"},
        {"pipe", 1, EMFILE, 0,
         "cannot start the process that cleans up after the ranks: Too many open files"},
        {"pipe", 2, ENFILE, 0,
         "cannot create a pipe for the output of a rank: Too many open files in system"},
        {"pipe", 5, EMFILE, 1, "cannot create a pipe for the output of a rank: Too many open files"},
        {"receive_descriptors", 2, 0, 4,
         "cannot create a pipe for the output of a rank: Too many open files"},
        {"socketpair", 1, EMFILE, 0, "cannot start the process that starts the ranks: Too many open files"},
        {"epoll_add", 3, ENOSPC, 4, "cannot read the output of a rank: No space left on device"},
        {"signalfd", 1, EMFILE, 0, "hpcml launch cannot receive signals"}}) {
    CAPTURE(row.call, row.number);
    LaunchPlay play({"leave 0; start 0 | TERM: ignore"});
    play.system.helpers = {"| TERM: ignore"};
    play.request.processes_per_node = 4;
    play.system.failures[{row.call, row.number}] = row.error;
    CHECK(play.run() == k_cannot_set_up);
    CHECK_THAT(play.err(), Contains(row.message));
    CHECK(play.system.executed().size() == row.started);
    CHECK(play.system.left().empty());
  }
}

TEST_CASE("memory killer is reported with the failed rank") {
  LaunchPlay play({"1 s; die KILL", "60 s"});
  play.system.files["/proc/vmstat"] = "oom_kill 3\n";
  play.system.after(1, [&] { play.system.files["/proc/vmstat"] = "oom_kill 4\n"; });
  CHECK(play.run() == 128 + SIGKILL);
  CHECK_THAT(play.err(), Contains("out of memory: the kernel killed 1 process of this node"));
}

TEST_CASE("rank that another process killed is not out of memory") {
  LaunchPlay play({"1 s; die KILL", "60 s"});
  play.system.files["/proc/vmstat"] = "oom_kill 3\n";
  CHECK(play.run() == 128 + SIGKILL);
  CHECK_THAT(play.err(), Contains("was killed by SIGKILL") && !Contains("out of memory"));
}

TEST_CASE("signal of the step may follow a rank that it ended") {
  LaunchPlay play({"1 s; die TERM", "60 s"});
  play.become_task(0, 1);
  play.request.processes_per_node = 2;
  play.system.signal_after(1.2, "TERM");
  CHECK(play.run() == 128 + SIGTERM);
  CHECK(play.system.signals() == "1.2 s: TERM, CONT");
}

TEST_CASE("task ends by a signal after its output was read") {
  struct Row {
    double read_at; // seconds
    double ended_at;
  };
  // The output has 0.3 s to reach srun, after at most 1 s for its reader.
  const auto row = GENERATE(values<Row>({{1.5, 1.8}, {60, 2.3}}));
  LaunchPlay play({"60 s"});
  play.become_task(0, 1);
  play.request.processes_per_node = 1;
  play.system.err.unread = 100;
  play.system.after(row.read_at, [&] { play.system.err.unread = 0; });
  play.system.signal_after(1, "TERM");
  CHECK(play.run() == 128 + SIGTERM);
  CHECK(play.system.seconds() == row.ended_at);
}
