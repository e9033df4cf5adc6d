// SPDX-License-Identifier: MIT
// Agents that are stopped, as processes: who reports them, how the others end, and what is left.
#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "free_port.hpp"
#include "run/agent/agent_helper.hpp"
#include "run/agent/agent_liveness_watchdog.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using std::chrono::seconds;

namespace {

agent::AgentRequest request_of(unsigned nodes, const std::string& script) {
  auto request = agent_at(static_cast<unsigned>(test::free_port()), 1, script, nodes);
  request.heartbeat = {seconds(1), seconds(5)};
  request.place->join_timeout = seconds(5); // for a lost node to come back
  return request;
}

std::unique_ptr<AgentProcess> start_agent(const agent::AgentRequest& request, unsigned node) {
  auto own = request;
  own.place->node_rank = node;
  return std::make_unique<AgentProcess>(own, "node" + std::to_string(node));
}

/// The children of a process, the oldest first.
std::vector<pid_t> children_of(pid_t pid) {
  const auto name = std::to_string(pid);
  std::vector<pid_t> children;
  for (const auto& word :
       util::split(util::read_file("/proc/" + name + "/task/" + name + "/children").value_or(""), ' '))
    if (const auto child = util::parse_unsigned(word)) children.push_back(static_cast<pid_t>(*child));
  return children;
}

/// The child of an agent that joins the agents: it listens.
pid_t find_service(pid_t agent) {
  std::set<std::string> listening;
  for (const auto* table : {"/proc/net/tcp", "/proc/net/tcp6"})
    for (const auto& line : util::split(util::read_file(table).value_or(""), '\n')) {
      std::vector<std::string> words;
      for (const auto& word : util::split(line, ' '))
        if (!word.empty()) words.push_back(word);
      if (words.size() > 9 && words[3] == "0A") listening.insert("socket:[" + words[9] + "]");
    }
  for (const auto child : children_of(agent)) {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(child) + "/fd", error))
      if (listening.count(std::filesystem::read_symlink(entry.path(), error).string()) > 0) return child;
  }
  return -1;
}

/// The process and all below it.
std::vector<pid_t> tree_of(pid_t pid) {
  std::vector<pid_t> tree = {pid};
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (const auto child : children_of(tree[i])) tree.push_back(child);
  return tree;
}

/// The number that follows "pid " in an agent's output.
std::string rank_of(const AgentProcess& agent) {
  REQUIRE(agent.shows("pid "));
  const auto words = util::split(util::split(agent.out(), '\n')[0], ' ');
  return words.back();
}

} // namespace

TEST_CASE("agents end or continue when another agent is stopped") {
  const bool elastic = GENERATE(false, true);
  auto request = request_of(3, "echo pid $$; test $WORLD_SIZE = 2 && exit 0; exec sleep 300");
  if (elastic) request.min_nodes = 2;
  std::vector<std::unique_ptr<AgentProcess>> agents;
  for (unsigned node = 0; node < 3; ++node) agents.push_back(start_agent(request, node));
  for (auto& agent : agents) REQUIRE(agent->shows("pid "));
  const auto rank = rank_of(*agents[1]);
  ::kill(agents[1]->pid(), SIGSTOP);
  for (const unsigned node : {0U, 2U}) {
    const auto end = agents[node]->wait();
    CAPTURE(elastic, node, end.out, end.err);
    CHECK((end.code == 0) == elastic);
    if (node == 0) CHECK_THAT(end.err, Contains("no heartbeat from the agent of node1 (node 1 of 3) for"));
  }
  // Its own watchdog ends it, so that nobody waits for it and its ranks do not run on.
  const auto end = agents[1]->wait();
  CAPTURE(end.err);
  CHECK(end.code == 137);
  CHECK_THAT(end.err, Contains("the agent of node1 (process") && Contains("it is stopped") &&
                          Contains("and its ranks are killed"));
  CHECK(is_lost(rank));
}

TEST_CASE("a run of one node continues without heartbeats") {
  auto request = agent_of(1, "sleep 5; echo done");
  request.heartbeat = {seconds(1), seconds(3)};
  const auto end = run_one(request);
  CAPTURE(end.err);
  CHECK(end.code == 0);
  CHECK_THAT(end.out, Contains("done"));
}

TEST_CASE("another node reports a stopped agent of the first node") {
  auto request = request_of(2, "echo pid $$; exec sleep 300");
  const auto first = start_agent(request, 0), second = start_agent(request, 1);
  const auto rank = rank_of(*second);
  REQUIRE(first->shows("pid "));
  ::kill(first->pid(), SIGSTOP);
  const auto end = second->wait();
  CAPTURE(end.out, end.err);
  CHECK(end.code == 1);
  CHECK_THAT(end.err, Contains("no heartbeat from the agent of node0 (node 0 of 2) for"));
  CHECK(is_lost(rank));
  CHECK(first->wait().code == 137);
}

TEST_CASE("agents report a stopped coordinator and end") {
  auto request = request_of(2, "echo pid $$; exec sleep 300");
  const auto first = start_agent(request, 0), second = start_agent(request, 1);
  const auto rank = rank_of(*first), far_rank = rank_of(*second);
  const pid_t service = find_service(first->pid());
  REQUIRE(service > 0);
  ::kill(service, SIGSTOP);
  const auto end = first->wait();
  CAPTURE(end.out, end.err);
  CHECK(end.code == 125);
  CHECK_THAT(end.err, Contains("no heartbeat from the coordinator of the agents (node0, process " +
                               std::to_string(service)));
  const auto far = second->wait();
  CAPTURE(far.err);
  CHECK(far.code == 1);
  // The first agent ends its stopped service after the same time: its silence or its end is seen first.
  CHECK_THAT(far.err, Contains("the agent of the first node (127.0.0.1"));
  for (const auto& pid : {rank, far_rank, std::to_string(service)}) CHECK(is_lost(pid));
}

TEST_CASE("description of a process names its state and file") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char word;
    ::_exit(::read(ends[0], &word, 1) == 1 ? 0 : 1);
  }
  const auto shows = [&](const std::string& text) {
    for (int i = 0; i < 6000; ++i, ::usleep(10000))
      if (agent::describe_process(child).find(text) != std::string::npos) return true;
    return false;
  };
  CHECK(shows("sleeps in read"));
  CHECK_THAT(agent::describe_process(child), Contains(", file pipe:["));
  ::kill(child, SIGSTOP);
  CHECK(shows("is stopped"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(agent::describe_process(child).empty());
  ::close(ends[0]), ::close(ends[1]);
}

TEST_CASE("a run continues when all its processes were paused") {
  test::TempDirectory directory;
  const auto go = (directory / "go").string();
  auto request = request_of(2, "echo pid $$; until test -e " + go + "; do sleep 0.1; done; echo done");
  const auto first = start_agent(request, 0), second = start_agent(request, 1);
  REQUIRE(first->shows("pid "));
  REQUIRE(second->shows("pid "));
  std::vector<pid_t> all;
  for (const auto* agent : {first.get(), second.get()})
    for (const auto pid : tree_of(agent->pid())) all.push_back(pid);
  for (const auto pid : all) ::kill(pid, SIGSTOP);
  ::sleep(8);
  for (const auto pid : all) ::kill(pid, SIGCONT);
  ::sleep(7); // what was lost would be reported by now
  REQUIRE(util::write_file(go, ""));
  for (auto* agent : {first.get(), second.get()}) {
    const auto end = agent->wait();
    CAPTURE(end.out, end.err);
    CHECK(end.code == 0);
    CHECK_THAT(end.out, Contains("done"));
    CHECK_THAT(end.err, !Contains("heartbeat"));
  }
}

TEST_CASE("a lost agent kills its ranks first when it resumes") {
  auto request = request_of(2, "trap 'echo heard TERM' TERM; echo pid $$; while :; do sleep 0.1; done");
  const auto first = start_agent(request, 0), second = start_agent(request, 1);
  REQUIRE(first->shows("pid "));
  const auto rank = rank_of(*second);
  // Its watchdog, too, which would end it before that.
  auto stopped = tree_of(second->pid());
  stopped.erase(std::remove(stopped.begin(), stopped.end(), std::stoi(rank)), stopped.end());
  for (const auto pid : stopped) ::kill(pid, SIGSTOP);
  CHECK(first->wait().code == 1);
  for (const auto pid : stopped) ::kill(pid, SIGCONT);
  const auto end = second->wait();
  CAPTURE(end.out, end.err);
  CHECK(end.code == 1);
  CHECK_THAT(end.err, Contains("the agent of node1 was treated as lost: its ranks are killed"));
  CHECK_THAT(end.out, !Contains("heard TERM"));
  CHECK(is_lost(rank));
}
