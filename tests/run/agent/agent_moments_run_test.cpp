// SPDX-License-Identifier: MIT
// Agents at bad moments: a start that fails on one node only, signals before and between attempts, long ends.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "free_port.hpp"
#include "run/agent/agent_helper.hpp"
#include "serving_child.hpp"
#include "sorted_lines.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

TEST_CASE("a node that cannot start its ranks ends those of the others") {
  test::TempDirectory directory;
  std::filesystem::create_directory(directory / "test");
  REQUIRE(util::write_file((directory / "test/attempt_0").string(), "no folder"));
  auto request = agent_at(static_cast<unsigned>(test::free_port()), 1, "exec sleep 300", 2);
  request.place->node_rank = 0;
  AgentProcess good(request, "node0");
  request.place->node_rank = 1;
  request.log_directory = directory.path().string();
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
  CHECK(end.code == 0); // the ranks' own
  CHECK(end.processor_seconds < 1);
}

TEST_CASE("the ranks of each attempt find signals and limits as those of the first") {
  test::TempDirectory directory;
  rlimit before{}, low{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  low = before;
  low.rlim_cur = 100; // an agent needs more, and raises it for itself
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  auto request = agent_of(1, "echo first >&2; sleep 0.2; grep -E 'SigIgn|SigBlk' /proc/self/status;"
                             "ulimit -n; test $TORCHELASTIC_RESTART_COUNT = 1");
  request.max_restarts = 1;
  request.log_directory = directory.path().string();
  request.run_id = "run";
  CHECK(run_one(request).code == 0);
  ::setrlimit(RLIMIT_NOFILE, &before);
  const auto of_attempt = [&](const std::string& number) {
    return util::read_file((directory / ("run/attempt_" + number + "/0/stdout.log")).string()).value_or("");
  };
  const auto raised = std::max<rlim_t>(100, std::min<rlim_t>(before.rlim_max, 65536));
  CHECK_THAT(of_attempt("0"), Contains("SigIgn") && Contains("\n" + std::to_string(raised) + "\n"));
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
  test::TempDirectory directory;
  auto request = agent_at(static_cast<unsigned>(test::free_port()), 1, "exit 0", 2);
  request.place->node_rank = 1;
  request.log_directory = directory.path().string();
  AgentProcess agent(request);
  // Made once signals are waited for.
  for (int i = 0; i < 6000 && !std::filesystem::exists(directory / "test"); ++i) ::usleep(10000);
  ::kill(agent.pid(), SIGUSR1);
  ::kill(agent.pid(), signal);
  CHECK(agent.wait().code == 128 + signal);
}

TEST_CASE("ranks whose store's process is killed are started again with another, and the run says it") {
  test::TempDirectory directory;
  auto request = agent_of(2, "echo up $TORCHELASTIC_RESTART_COUNT $HPCML_STORE_ADDR;"
                             "test $TORCHELASTIC_RESTART_COUNT = 1 || exec sleep 300");
  request.log_directory = directory.path().string();
  request.run_id = "run";
  const bool again = GENERATE(true, false);
  request.max_restarts = again ? 1 : 0;
  AgentProcess agent(request);
  REQUIRE(agent.shows("[0] up 0 "));
  REQUIRE(agent.shows("[1] up 0 "));
  const auto store = test::find_serving_child(agent.pid());
  REQUIRE(store > 0);
  ::kill(store, SIGKILL);
  const auto end = agent.wait();
  CAPTURE(again, end.out, end.err);
  CHECK(end.code == (again ? 0 : 125));
  CHECK_THAT(end.err, Contains("hpcml itself failed on node0") &&
                          Contains("the process of the rendezvous store was killed by SIGKILL") &&
                          Contains(again ? "restart 1 of 1" : "all ranks were stopped because of this"));
  const auto record = util::read_file((directory / "run/record-0.jsonl").string()).value_or("");
  CHECK_THAT(record, Contains(R"("class":"launcher","rank":null)"));
}

TEST_CASE("an agent that is killed while it has no ranks leaves no folder") {
  test::TempDirectory directory;
  const std::string before = ::getenv("TMPDIR") != nullptr ? ::getenv("TMPDIR") : "/tmp";
  ::setenv("TMPDIR", directory.path().c_str(), 1);
  // It waits for a second node that does not come.
  AgentProcess agent(agent_at(static_cast<unsigned>(test::free_port()), 1, "exit 0", 2));
  ::setenv("TMPDIR", before.c_str(), 1);
  REQUIRE(test::find_serving_child(agent.pid()) > 0); // the folder is made before
  const auto has_left = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
      if (entry.path().filename().string().starts_with("hpcml-agent.")) return true;
    return false;
  };
  REQUIRE(has_left());
  ::kill(agent.pid(), SIGKILL);
  CHECK(agent.wait().code == 137);
  for (int i = 0; i < 6000 && has_left(); ++i) ::usleep(10000);
  CHECK_FALSE(has_left());
}
