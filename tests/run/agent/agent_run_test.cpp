// SPDX-License-Identifier: MIT
// Agents with real ranks, on one node and on several that share this machine.
#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "free_port.hpp"
#include "run/agent/agent_helper.hpp"
#include "sorted_lines.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using test::sorted_lines;

namespace {

/// Agents of `nodes` nodes, node0 first.
std::vector<std::unique_ptr<AgentProcess>> start_agents(unsigned nodes, const agent::AgentRequest& request) {
  std::vector<std::unique_ptr<AgentProcess>> agents;
  for (unsigned node = 0; node < nodes; ++node) {
    auto agent_request = request;
    agent_request.place->node_rank = node;
    agents.push_back(std::make_unique<AgentProcess>(agent_request, "node" + std::to_string(node)));
  }
  return agents;
}

} // namespace

TEST_CASE("an agent's ranks find torchrun's whole contract") {
  auto request =
      agent_of(2, "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $GROUP_WORLD_SIZE "
                  "$ROLE_RANK $ROLE_NAME $ROLE_WORLD_SIZE $TORCHELASTIC_RESTART_COUNT "
                  "$TORCHELASTIC_MAX_RESTARTS $TORCHELASTIC_RUN_ID; test -d $(dirname "
                  "$TORCHELASTIC_ERROR_FILE)");
  request.max_restarts = 3;
  request.role = "trainer";
  request.run_id = "run7";
  const auto end = run_one(request);
  CAPTURE(end.err);
  CHECK(end.code == 0);
  CHECK(sorted_lines(end.out) == std::vector<std::string>{"[0] 0 0 2 2 0 1 0 trainer 2 0 3 run7",
                                                          "[1] 1 1 2 2 0 1 1 trainer 2 0 3 run7"});
}

TEST_CASE("all ranks start again where one fails, as often as is allowed") {
  test::TempDirectory directory;
  // Rank 1 fails until it was started three times.
  const auto script =
      "cd " + directory.path().string() +
      "; echo started $RANK $TORCHELASTIC_RESTART_COUNT; up=up$TORCHELASTIC_RESTART_COUNT;"
      "if test $RANK = 0; then touch $up; while ! test -e done; do sleep 0.05; done; exit 0; fi;"
      "while ! test -e $up; do sleep 0.05; done;"
      "echo x >> times; test $(wc -l < times) = 3 || exit 5; touch done";
  auto request = agent_of(2, script);
  SECTION("often enough") {
    request.max_restarts = 2;
    const auto end = run_one(request);
    CAPTURE(end.out, end.err);
    CHECK(end.code == 0);
    CHECK(sorted_lines(end.out) == std::vector<std::string>{"[0] started 0 0", "[0] started 0 1",
                                                            "[0] started 0 2", "[1] started 1 0",
                                                            "[1] started 1 1", "[1] started 1 2"});
    CHECK_THAT(end.err, Contains("(node0, local 1) exited with code 5") && Contains("restart 2 of 2"));
  }
  SECTION("not often enough") {
    request.max_restarts = 1;
    const auto end = run_one(request);
    CHECK(end.code == 5);
    CHECK_THAT(end.err,
               Contains("restart 1 of 1") && Contains("the other ranks were stopped because rank 1 failed"));
  }
}

TEST_CASE("agents of several nodes are one world, and the first failure ends it everywhere with its code") {
  const auto port = static_cast<unsigned>(test::free_port());
  SECTION("all ends well") {
    auto agents =
        start_agents(3, agent_at(port, 2, "echo $RANK $WORLD_SIZE $GROUP_RANK $HPCML_STORE_ADDR", 3));
    std::vector<std::string> lines;
    for (auto& agent : agents) {
      const auto end = agent->wait();
      CAPTURE(end.err);
      CHECK(end.code == 0);
      for (const auto& line : sorted_lines(end.out)) lines.push_back(util::split(line, ']')[1]);
    }
    std::sort(lines.begin(), lines.end());
    REQUIRE(lines.size() == 6);
    const auto place = util::split(lines[0], ' ').back();
    for (unsigned rank = 0; rank < 6; ++rank)
      CHECK(lines[rank] == " " + std::to_string(rank) + " 6 " + std::to_string(rank / 2) + " " + place);
  }
  SECTION("one fails") {
    test::TempDirectory directory; // a rank that has not connected yet would report the end of another one
    const auto script = "cd " + directory.path().string() +
                        "; touch $RANK; test $RANK = 4 || exec sleep 300; until test -e 0 -a -e 1 -a -e 2 -a "
                        "-e 3 -a -e 5; do sleep 0.05; done; exit 9";
    auto agents = start_agents(3, agent_at(port, 2, script, 3));
    for (auto& agent : agents) {
      const auto end = agent->wait();
      CHECK(end.code == 9);
      if (agent == agents.front())
        CHECK_THAT(end.err, Contains("(node2, local 0) exited with code 9"));
      else
        CHECK(end.err == "");
    }
  }
}

TEST_CASE("all nodes start again where a rank of one fails") {
  test::TempDirectory directory;
  const auto script = "cd " + directory.path().string() +
                      "; test $RANK = 3 -a $TORCHELASTIC_RESTART_COUNT = 0 && exit 1;"
                      "test $TORCHELASTIC_RESTART_COUNT = 0 && exec sleep 300; echo $RANK again";
  auto request = agent_at(static_cast<unsigned>(test::free_port()), 2, script, 2);
  request.max_restarts = 1;
  auto agents = start_agents(2, request);
  std::string all;
  for (auto& agent : agents) {
    const auto end = agent->wait();
    CAPTURE(end.err);
    CHECK(end.code == 0);
    all += end.out;
  }
  CHECK(sorted_lines(all) ==
        std::vector<std::string>{"[0] 0 again", "[1] 1 again", "[2] 2 again", "[3] 3 again"});
}

TEST_CASE("the other nodes stop where an agent is killed, and go on where they may") {
  const auto port = static_cast<unsigned>(test::free_port());
  auto request =
      agent_at(port, 1, "echo world $WORLD_SIZE; test $WORLD_SIZE = 2 && exit 0; exec sleep 300", 3);
  const bool elastic = GENERATE(false, true);
  if (elastic) request.min_nodes = 2;
  request.place->join_timeout = std::chrono::seconds(elastic ? 60 : 3);
  auto agents = start_agents(3, request);
  for (auto& agent : agents) REQUIRE(agent->shows("world 3"));
  ::kill(agents[1]->pid(), SIGKILL);
  CHECK(agents[1]->wait().code == 137);
  for (const unsigned node : {0U, 2U}) {
    const auto end = agents[node]->wait();
    CAPTURE(elastic, node, end.out, end.err);
    CHECK((end.code == 0) == elastic);
    CHECK((end.out.find("world 2") != std::string::npos) == elastic);
    if (node == 0) CHECK_THAT(end.err, Contains("the agent of node1 disconnected"));
  }
}

TEST_CASE("ranks of several nodes meet at the address where their agents have, and at a port of their own") {
  const auto port = static_cast<unsigned>(test::free_port());
  auto agents = start_agents(2, agent_at(port, 1, "echo $MASTER_ADDR $MASTER_PORT", 2));
  std::set<std::string> places;
  for (auto& agent : agents) {
    const auto end = agent->wait();
    CHECK(end.code == 0);
    places.insert(util::split(sorted_lines(end.out).at(0), ']')[1]);
  }
  REQUIRE(places.size() == 1);
  const auto words = util::split(*places.begin(), ' ');
  CHECK(words[1] == "127.0.0.1");
  CHECK(words[2] != std::to_string(port));
}

TEST_CASE("nobody outlives the agent of the first node") {
  auto agents = start_agents(
      2, agent_at(static_cast<unsigned>(test::free_port()), 1, "echo pid $$; exec sleep 300", 2));
  REQUIRE(agents[0]->shows("pid"));
  REQUIRE(agents[1]->shows("pid"));
  const auto pid = util::parse_unsigned(util::split(util::split(agents[1]->out(), '\n')[0], ' ').back());
  REQUIRE(pid);
  ::kill(agents[0]->pid(), SIGKILL);
  const auto end = agents[1]->wait();
  CHECK(end.code == 1); // as where any other node is lost
  CHECK_THAT(end.err, Contains("the agent of the first node") && Contains("disconnected"));
  CHECK(is_lost(std::to_string(*pid)));
}

TEST_CASE("an agent that is killed leaves neither ranks nor folders") {
  AgentProcess agent(agent_of(1, "echo $$ $TORCHELASTIC_ERROR_FILE; exec sleep 300"));
  REQUIRE(agent.shows("error.json"));
  const auto words = util::split(util::split(agent.out(), '\n')[0], ' ');
  ::kill(agent.pid(), SIGKILL);
  CHECK(agent.wait().code == 137);
  const auto directory = std::filesystem::path(words[2]).parent_path().parent_path().parent_path();
  for (int i = 0; i < 6000 && std::filesystem::exists(directory); ++i) ::usleep(10000);
  CHECK_FALSE(std::filesystem::exists(directory));
  CHECK(is_lost(words[1]));
}

TEST_CASE("a signal to an agent ends its ranks and those of the others, whose own code is then the run's") {
  const unsigned reason_kind = GENERATE(0U, 1U);
  const bool well = GENERATE(true, false); // as programs do that save what they have
  auto agents = start_agents(2, agent_at(static_cast<unsigned>(test::free_port()), 1,
                                         std::string("trap 'echo bye $RANK; exit ") + (well ? "0" : "143") +
                                             "' TERM; echo up; while :; do sleep 0.1; done",
                                         2));
  for (auto& agent : agents) REQUIRE(agent->shows("up"));
  ::kill(agents[reason_kind]->pid(), SIGTERM);
  for (unsigned node = 0; node < 2; ++node) {
    const auto end = agents[node]->wait();
    CAPTURE(reason_kind, well, node, end.out, end.err);
    CHECK(end.code == (well ? 0 : 143));
    CHECK_THAT(end.out, Contains("bye " + std::to_string(node)));
  }
}

TEST_CASE("what ranks have started in sessions of their own is gone before they start again") {
  test::TempDirectory directory;
  auto request = agent_of(1, "cd " + directory.path().string() +
                                 "; test -e pid && { kill -0 $(cat pid) 2>/dev/null && echo alive; exit 0; };"
                                 "setsid sleep 300 & echo $! > new; mv new pid; exit 1");
  request.max_restarts = 1;
  const auto end = run_one(request);
  CHECK(end.code == 0);
  CHECK(end.out == "");
}

TEST_CASE("each attempt has a folder for every rank, and nothing stays where nothing is to be kept") {
  test::TempDirectory directory;
  auto request =
      agent_of(2, "test $TORCHELASTIC_RESTART_COUNT = 1; code=$?; echo $TORCHELASTIC_ERROR_FILE; exit $code");
  request.max_restarts = 1;
  SECTION("kept") {
    request.log_directory = directory.path().string();
    request.run_id = "a/b";
    CHECK(run_one(request).code == 0);
    for (const auto* path : {"a_b/attempt_0/0", "a_b/attempt_0/1", "a_b/attempt_1/0", "a_b/attempt_1/1"})
      CHECK(std::filesystem::is_directory(directory / path));
  }
  SECTION("not kept") {
    const auto end = run_one(request);
    CHECK(end.code == 0);
    const auto path = util::split(sorted_lines(end.out)[0], ' ').back();
    CHECK_THAT(path, Contains("/hpcml-agent.") && Contains("/error.json"));
    CHECK_FALSE(
        std::filesystem::exists(std::filesystem::path(path).parent_path().parent_path().parent_path()));
  }
}

TEST_CASE("a folder that cannot be made is said before a rank starts") {
  auto request = agent_of(1, "echo started");
  request.log_directory = "/proc/nowhere";
  const auto end = run_one(request);
  CHECK(end.code == 125);
  CHECK(end.out == "");
  CHECK_THAT(end.err, Contains("cannot create directory /proc/nowhere"));
}

TEST_CASE("one run after another meets at the same port") {
  const auto port = static_cast<unsigned>(test::free_port());
  for (int run = 0; run < 5; ++run) {
    std::vector<std::unique_ptr<AgentProcess>> agents;
    for (int i = 0; i < 2; ++i)
      agents.push_back(std::make_unique<AgentProcess>(agent_at(port, 1, "echo $WORLD_SIZE", 2)));
    for (auto& agent : agents) {
      const auto end = agent->wait();
      CAPTURE(run, end.err);
      CHECK(end.code == 0);
      CHECK_THAT(end.out, Contains("] 2"));
    }
  }
}

TEST_CASE("the record of a run names when each rank's process had begun, had met and spoke first, and the "
          "slowest") {
  test::TempDirectory directory;
  auto request = agent_of(2, "test $RANK = 0 || sleep 0.3; echo word");
  request.log_directory = directory.path().string();
  request.run_id = "phases";
  CHECK(run_one(request).code == 0);
  const auto text = util::read_file((directory / "phases/record-0.jsonl").string()).value_or("");
  CHECK_THAT(text, Contains(R"("event":"phase_summary")"));
  unsigned words = 0, rendezvous_events = 0;
  for (const auto& line : util::split(text, '\n')) {
    if (line.find(R"("phase":"rendezvous")") != std::string::npos) ++rendezvous_events;
    if (line.find(R"("phase":"output")") == std::string::npos) continue;
    ++words;
    if (line.find("slowest") != std::string::npos) CHECK_THAT(line, Contains(R"("slowest":1,)"));
  }
  CHECK(words == 3);
  CHECK(rendezvous_events == 3); // of each rank, and the slowest
}
