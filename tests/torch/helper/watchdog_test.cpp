// SPDX-License-Identifier: MIT
// A rank ends by itself where nothing else ends it.
#include <catch2/catch.hpp>

#include <future>

#include "ranks_helper.hpp"
#include "run/launch/preflight_check.hpp"
#include "torch/helper/watchdog.hpp"

using namespace hpcml;
using namespace torch_test;
using namespace std::chrono_literals;
using Catch::Contains;

TEST_CASE("a watchdog says what is waited for once its limit is over, and nothing before") {
  std::promise<std::string> promised;
  auto message = promised.get_future();
  {
    helper::Watchdog watchdog(50ms, [&](const std::string& phase, auto) { promised.set_value(phase); });
    watchdog.enter("all_reduce");
    REQUIRE(message.wait_for(30s) == std::future_status::ready);
  }
  CHECK(message.get() == "all_reduce");
  bool ended = false;
  {
    helper::Watchdog watchdog(1h, [&](const std::string&, auto) { ended = true; });
  } // and does not wait
  CHECK_FALSE(ended);
}

TEST_CASE(
    "a rank that waits beyond its own deadline says so and ends, long before what it waits for gives up") {
  // Rank 1 never comes; the rendezvous itself would wait for it for 60 s.
  const auto run = run_ranks(2, {0}, [](int) -> std::vector<std::string> {
    return {helper_path(), "preflight", "--timeout", "60", "--deadline", "1"};
  });
  INFO(run.transcript());
  CHECK(run.ranks.at(0).exit_code == 6);
  CHECK(run.seconds < 50);
  REQUIRE(run.events(0, "failed").size() == 1);
  const auto failed = run.events(0, "failed")[0];
  CHECK(failed.at("phase") == "watchdog");
  CHECK_THAT(failed.at("what").get<std::string>(), Contains("rendezvous") && Contains("after 1 s"));
  CHECK(launch::preflight_result(run.ranks.at(0).out).what == failed.at("what").get<std::string>());
}

TEST_CASE("hpcml waits for the helper longer than the helper for itself") {
  for (unsigned seconds = 1; seconds <= 3600; ++seconds)
    REQUIRE(launch::preflight_limit(seconds) > helper::watchdog_limit(std::chrono::seconds(seconds)));
}
