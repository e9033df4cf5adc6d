// SPDX-License-Identifier: MIT
// Ranks that are lost, stuck or different: the others end, and name them.
#include <catch2/catch.hpp>

#include "rank_program.hpp"
#include "torch/helper/ranks_helper.hpp"

using namespace torch_test;
using Catch::Contains;

namespace {

/// Three ranks, of which rank `bad` misbehaves; what the others say of it, by rank. `more`: of their command.
void check_named(const std::string& how, int bad, const std::string& words, const std::string& timeout = "10",
                 const std::vector<std::string>& more = {}) {
  const auto run = run_ranks(3, {0, 1, 2}, [&](int) {
    std::vector<std::string> command{ddp_rank(),          "fail",      "--how", how, "--bad",
                                     std::to_string(bad), "--timeout", timeout};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  });
  INFO(how << ", rank " << bad << "\n" << run.transcript());
  for (int rank = 0; rank < 3; ++rank) {
    if (rank == bad) continue;
    INFO("rank " << rank);
    REQUIRE(run.ranks.at(rank).exit_code == 6);
    const auto output = nlohmann::json::parse(run.ranks.at(rank).out);
    CHECK(output.at("failed_ranks") == std::to_string(bad));
    CHECK_THAT(output.at("error").get<std::string>(),
               Contains("rank " + std::to_string(bad)) && Contains(words));
  }
}

} // namespace

TEST_CASE("a rank that is killed is named by all others, also the one that serves their store") {
  check_named("die", 1, "is lost");
  check_named("die", 0, "exited with rank 0");
}

TEST_CASE("a rank that is busy elsewhere is named, and not the others that wait") {
  check_named("hang", 2, "busy elsewhere", k_short);
}

TEST_CASE("a rank that ends early, by itself or by an exception, is named") {
  check_named("leave", 1, "has left");
  check_named("throw", 1, "an exception of the program");
}

TEST_CASE(
    "a rank whose parameter gets no gradient, or whose module differs, says so itself and ends the others") {
  check_named("unused", 1,
              "parameters got no gradient in this step (second.weight, second.bias, last.weight");
  check_named("differs", 2, "its module differs from that of rank 0: this rank has first.weight");
}

TEST_CASE(
    "a rank that is busy while another fails names it, too, and not the store that has gone meanwhile") {
  check_named("unused", 2, "parameters got no gradient", "10", {"--busy", "1"});
}

TEST_CASE("an exception of the rank that serves the store is told before it goes") {
  check_named("throw", 0, "an exception of the program");
}

TEST_CASE("a rank that does not come is named once the time for the meeting is over") {
  check_named("absent", 1, "has not connected", k_short);
}
