// SPDX-License-Identifier: MIT
// Agents at bad moments: a start that fails on one node only, signals before and between attempts, long ends.
#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <unistd.h>

#include "agent/agent_helper.hpp"
#include "free_port.hpp"
#include "sorted_lines.hpp"
#include "util/file.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

TEST_CASE("a node that cannot start its ranks ends those of the others") {
  test::TempFolder folder;
  std::filesystem::create_directory(folder / "test");
  REQUIRE(util::write_file((folder / "test/attempt_0").string(), "no folder"));
  auto request = agent_at(static_cast<unsigned>(test::free_port()), 1, "exec sleep 300", 2);
  request.place->node_rank = 0;
  AgentProcess good(request, "node0");
  request.place->node_rank = 1;
  request.log_folder = folder.path().string();
  AgentProcess bad(request, "node1");
  const auto end = good.wait();
  CHECK(end.code == 125);
  CHECK_THAT(end.err, Contains("attempt_0"));
  CHECK(bad.wait().code == 125);
}

TEST_CASE("an agent that has heard its last order takes no processor time while its ranks still end") {
  AgentProcess agent(agent_of(1, "trap 'sleep 4; exit 0' TERM; echo up; while :; do sleep 0.1; done"));
  REQUIRE(agent.shows("up"));
  ::kill(agent.pid(), SIGTERM);
  const auto end = agent.wait();
  CHECK(end.code == 143);
  CHECK(end.processor_seconds < 1);
}

TEST_CASE("the ranks of each attempt find signals as those of the first") {
  test::TempFolder folder;
  auto request = agent_of(1, "echo first >&2; sleep 0.2; grep -E 'SigIgn|SigBlk' /proc/self/status;"
                             "test $TORCHELASTIC_RESTART_COUNT = 1");
  request.max_restarts = 1;
  request.log_folder = folder.path().string();
  request.run_id = "run";
  CHECK(run_one(request).code == 0);
  const auto of_attempt = [&](const std::string& number) {
    return util::read_file((folder / ("run/attempt_" + number + "/0/stdout.log")).string()).value_or("");
  };
  CHECK_THAT(of_attempt("0"), Contains("SigIgn"));
  CHECK(of_attempt("0") == of_attempt("1"));
}

TEST_CASE("ranks that end by a signal that was sent to their agent are not started again") {
  const int signal = GENERATE(SIGHUP, SIGUSR1);
  auto request = agent_of(2, "echo up; exec sleep 300");
  request.max_restarts = 3;
  AgentProcess agent(request);
  REQUIRE(agent.shows("[0] up"));
  REQUIRE(agent.shows("[1] up"));
  ::kill(agent.pid(), signal);
  const auto end = agent.wait();
  CAPTURE(signal, end.err);
  CHECK(end.code == 128 + signal);
  CHECK_THAT(end.err, !Contains("started again"));
}

TEST_CASE("an agent that waits for the others outlives a signal for its ranks, and ends by one for itself") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  test::TempFolder folder;
  auto request = agent_at(static_cast<unsigned>(test::free_port()), 1, "exit 0", 2);
  request.place->node_rank = 1;
  request.log_folder = folder.path().string();
  AgentProcess agent(request);
  // Made once signals are waited for.
  for (int i = 0; i < 6000 && !std::filesystem::exists(folder / "test"); ++i) ::usleep(10000);
  ::kill(agent.pid(), SIGUSR1);
  ::kill(agent.pid(), signal);
  CHECK(agent.wait().code == 128 + signal);
}
