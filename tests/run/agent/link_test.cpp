// SPDX-License-Identifier: MIT
// An agent's line to a conductor that is slow.
#include <catch2/catch.hpp>

#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "run/agent/coordinator_service.hpp"
#include "run/agent/link.hpp"

using namespace hpcml;
using namespace hpcml::agent;

TEST_CASE("a conductor that answers late is waited for, and takes the agent once") {
  CoordinatorOptions rules;
  rules.job = "job";
  rules.run_id = "run";
  const launch::JobChannelKey channel{store::SecretKey::make_random(), true};
  const auto service = start_service(rules, channel, {"127.0.0.1"}, {0});
  REQUIRE(service);
  ::kill(service->pid, SIGSTOP); // as a node is that has no time for it
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3500));
    ::kill(service->pid, SIGCONT);
  });
  RegisterRequest registration{"job", "run", "node0", 0U, 1, true};
  CoordinatorSearchOptions search;
  search.places = {{"127.0.0.1", service->port}};
  search.key = channel.key;
  search.join_timeout = std::chrono::seconds(30);
  auto found = find_coordinator(registration, search);
  later.join();
  const auto* none = std::get_if<CoordinatorSearchError>(&found);
  CAPTURE(none != nullptr ? none->error.what : "");
  REQUIRE(none == nullptr);
  // A line that had been dropped would have been the leader's end, and the run's.
  auto& link = *std::get<0>(found);
  std::optional<AgentCommand> order;
  for (int i = 0; i < 6000 && !order && link.fault().empty(); ++i, ::usleep(10000)) order = link.take();
  REQUIRE(order);
  CHECK(std::holds_alternative<ServeCommand>(order->what));
  ::kill(service->pid, SIGKILL);
  ::waitpid(service->pid, nullptr, 0);
}

namespace {

/// Answers every agent as another version of hpcml does.
struct OtherVersion : store::ServerObserver {
  bool on_message(store::ClientId client, const store::TcpStoreMessage&, store::AnswerSink& answers,
                  store::Time) override {
    store::WireWriter reply("hpcml 0.0.1 agent reply");
    reply.text("has other fields");
    answers.message(client, reply.take());
    return true;
  }
};

} // namespace

TEST_CASE("an agent names both versions when the coordinator's is another") {
  const auto service = launch::start_child_server({"127.0.0.1"}, {0}, [](store::ListeningSockets listening) {
    OtherVersion coordinator;
    store::Server server(std::move(listening), {}, coordinator);
    return server.run(-1);
  });
  REQUIRE(service);
  CoordinatorSearchOptions search;
  search.places = {{"127.0.0.1", service->port}};
  const auto found = find_coordinator({"job", "run", "node1", 1U, 1, false}, search);
  ::kill(service->pid, SIGKILL);
  ::waitpid(service->pid, nullptr, 0);
  const auto* none = std::get_if<CoordinatorSearchError>(&found);
  REQUIRE(none != nullptr);
  CHECK(none->refused);
  const auto own = store::message_mark("");
  CHECK(none->error.what + " " == "the agent at 127.0.0.1:" + std::to_string(service->port) +
                                      " uses hpcml 0.0.1, and this process uses " + own);
}
