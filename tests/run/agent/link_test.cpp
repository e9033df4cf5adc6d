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
  CHECK(order->kind == AgentCommand::Kind::serve);
  ::kill(service->pid, SIGKILL);
  ::waitpid(service->pid, nullptr, 0);
}
