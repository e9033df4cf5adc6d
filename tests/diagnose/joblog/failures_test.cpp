// SPDX-License-Identifier: MIT
// Known failures in a log.
#include <catch2/catch.hpp>

#include "diagnose/joblog/log_reader.hpp"

using namespace hpcml;
using Catch::Contains;

namespace {

std::vector<joblog::LogFailure> failures_in(const std::string& log) {
  joblog::LogReader reading;
  reading.add(log);
  reading.end();
  return reading.failures();
}

} // namespace

TEST_CASE("each known failure is found in a log with its hint") {
  for (const auto& row : failures::known_errors()) {
    if (!row.is_printed() || row.hint.empty()) continue;
    auto line = std::string(row.text) + " … " + std::string(row.and_text);
    CAPTURE(line);
    if (row.least > 1) line += "\n" + line;
    const auto found = failures_in("fine\n" + line + "\nfine\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].line == 2);
    CHECK_FALSE(found[0].hint.empty());
    CHECK(found[0].hint.find("{host}") == std::string::npos);
  }
}

TEST_CASE(
    "ranks are counted, the cause stands before what follows from it, and trials of NCCL are no failure") {
  const auto found =
      failures_in("[1] RuntimeError: Connection closed by peer [10.0.0.1]:3000\n"
                  "[0] RuntimeError: Connection closed by peer [10.0.0.1]:3001\n"
                  "[3] torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n"
                  "n1:1:1 [0] NCCL INFO NET/Plugin : libnccl-net.so: cannot open shared object file\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].line == 3);
  CHECK(found[0].ranks == std::set<unsigned>{3});
  CHECK(found[1].count == 2);
  CHECK(found[1].ranks == std::set<unsigned>{0, 1});
}

TEST_CASE("why finds an agent without a heartbeat") {
  for (const std::string line : {
           "hpcml: error: no heartbeat from the agent of node002 (node 1 of 4) for 30 s: treated as lost",
           "hpcml agent: node002 (node 1 of 4): no heartbeat from its agent for 30 s: treated as lost",
       }) {
    CAPTURE(line);
    const auto found = failures_in("fine\n" + line + "\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].line == 2);
    CHECK_THAT(found[0].hint, Contains("--heartbeat-timeout"));
  }
}

TEST_CASE("Slurm's last words name task and node") {
  const auto found = failures_in(
      "slurmstepd: error: *** JOB 7 ON nid000012 CANCELLED AT 2026-11-01T10:00:00 DUE TO TIME LIMIT ***\n"
      "srun: error: nid000013: task 3: Out Of Memory\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].host == "nid000013");
  CHECK(found[0].ranks == std::set<unsigned>{3});
  CHECK_THAT(found[1].hint, Contains("--time"));
  // As 22.05 and as later ones write it.
  for (const std::string event : {"oom-kill event(s) in StepId=1.0. Some of your processes may have been",
                                  "oom_kill event in StepId=1.0. Some of the step tasks have been"}) {
    const auto killed = failures_in("slurmstepd: error: Detected 1 " + event + " ...\n");
    REQUIRE(killed.size() == 1);
    CHECK_THAT(killed[0].hint, Contains("--mem"));
  }
}

TEST_CASE("why puts hpcml's report first and ignores its warnings") {
  for (const std::string lines : {
           "hpcml: warning: rank 0/2 (n1, local 0): the rank has CPUs 0-3, but hpcml planned CPUs 0-7\n"
           "[1] hpcml: error: rank 0/2 (n1, local 0) exited with code 1 after 2.5 s\n"
           "hpcml: rank 0's program provides the rendezvous store: torch 1.8.1 supports no other\n",
           "hpcml launch: warning: rank 0 on n1: has CPUs 0-3\nhpcml launch: rank 0 on n1: cannot execute x\n"
           "[0] hpcml launch: rank 0's program serves the store, because its torch is not known here\n",
       }) {
    CAPTURE(lines);
    const auto found = failures_in(lines + "No module named 'torch'\n");
    REQUIRE(found.size() == 2);
    CHECK(found[0].line == 2);
    CHECK_THAT(found[1].hint, Contains("which python"));
  }
}

TEST_CASE("several worlds of one rank are a failure") {
  const std::string lightning = "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/1\n";
  const auto found = failures_in(lightning + "epoch 1\n" + lightning);
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 2);
  CHECK_THAT(found[0].hint, Contains("each process trained its own model"));
  CHECK(failures_in(lightning).empty()); // a job of one process
  // A log that was appended to when the job started again.
  const std::string large = "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/16\n";
  CHECK(failures_in(large + large).empty());
  CHECK(failures_in(
            "hpcml: error: ranks 0-3 each report a world of 1 although WORLD_SIZE is 4: they do not train "
            "together\n")
            .size() == 1);
  const auto single = failures_in(
      "hpcml: error: rank 1 reports a world of 1 although WORLD_SIZE is 4: they do not train together\n");
  REQUIRE(single.size() == 1);
  CHECK_THAT(single[0].hint, Contains("devices=1"));
  CHECK(failures_in("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/2\n"
                    "Initializing distributed: GLOBAL_RANK: 1, MEMBER: 2/2\n")
            .empty());
  const std::string accelerate = "Distributed environment: DistributedType.NO\nNum processes: 1\n";
  CHECK(failures_in(accelerate + accelerate).size() == 1);
  CHECK(failures_in(accelerate).empty());
  CHECK(
      failures_in(
          "hpcml: warning: no program of the 4 ranks connected to the rendezvous store: those that train do "
          "so alone\n")
          .size() == 1);
}
