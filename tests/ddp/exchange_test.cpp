// SPDX-License-Identifier: MIT
// What ranks send to single others arrives, and who is lost or stuck meanwhile is named.
#include <catch2/catch.hpp>

#include "rank_program.hpp"
#include "torch/helper/ranks_helper.hpp"

using namespace torch_test;
using Catch::Contains;

namespace {

Run exchange(int ranks, const std::vector<std::string>& options) {
  return run_all_ranks(ranks, {ddp_rank(), "exchange"}, options);
}

nlohmann::json output_of(const Run& run, int rank) { return nlohmann::json::parse(run.ranks.at(rank).out); }

/// Four ranks in a ring, of which rank 2 misbehaves: all others name it, and with `also`, itself.
void check_named(const std::string& how, const std::string& words, bool also,
                 const std::string& timeout = "20") {
  const auto run = exchange(4, {"--how", how, "--bad", "2", "--timeout", timeout});
  INFO(how << "\n" << run.transcript());
  for (int rank = 0; rank < 4; ++rank) {
    if (rank == 2 && !also) continue;
    INFO("rank " << rank);
    REQUIRE(run.ranks.at(rank).exit_code == 6);
    const auto output = output_of(run, rank);
    CHECK(output.at("failed_ranks") == "2");
    CHECK_THAT(output.at("phase").get<std::string>(), Catch::Equals("send") || Catch::Equals("recv"));
    CHECK_THAT(output.at("error").get<std::string>(), Contains(words));
  }
}

} // namespace

TEST_CASE(
    "what each of four ranks hands on around a ring comes back to it, also late, and each tag gets its own") {
  const auto run = exchange(4, {"--ring"});
  INFO(run.transcript());
  for (int rank = 0; rank < 4; ++rank) {
    REQUIRE(run.ranks.at(rank).exit_code == 0);
    CHECK(output_of(run, rank).at("right") == true);
  }
}

TEST_CASE("two stages of a pipeline that send activations and gradients compute what one process does") {
  const auto run = exchange(2, {"--pipeline"});
  INFO(run.transcript());
  for (int rank = 0; rank < 2; ++rank) {
    REQUIRE(run.ranks.at(rank).exit_code == 0);
    CHECK(output_of(run, rank).at("right") == true);
    CHECK(output_of(run, rank).at("compared") == (rank == 0 ? 2 : 4)); // weights and biases of its layers
  }
}

TEST_CASE("a rank that is killed amid exchanges is named by all, also by those that do not talk to it") {
  check_named("die", "is lost", false);
}

TEST_CASE("a rank that hangs amid exchanges is named as busy, with what another waits for") {
  check_named("hang", "busy elsewhere", false, k_short);
}

TEST_CASE("a rank that ends amid exchanges has left, and one that sends to itself says so on all ranks") {
  check_named("leave", "has left", false);
  check_named("itself", "rank 2 is this rank itself", true);
  check_named("short", "the tensor of a send or receive must be contiguous", true);
}

TEST_CASE("ranks that wait for each other all around are named with what each waits for") {
  const auto run = exchange(2, {"--how", "tags", "--timeout", k_short});
  INFO(run.transcript());
  for (int rank = 0; rank < 2; ++rank) {
    REQUIRE(run.ranks.at(rank).exit_code == 6);
    const auto output = output_of(run, rank);
    CHECK(output.at("failed_ranks") == "0 1");
    CHECK_THAT(output.at("error").get<std::string>(),
               Contains("wait for each other: rank 0 in recv from rank 1 (tag 0), "
                        "rank 1 in recv from rank 0 (tag 1)"));
  }
}

TEST_CASE("a rank that fails before it begins an operation is not said to wait in the exchange before") {
  const auto run = exchange(2, {"--after"});
  INFO(run.transcript());
  REQUIRE(run.ranks.at(0).exit_code == 6);
  CHECK(output_of(run, 0).at("failed_ranks") == "0");
  CHECK_THAT(output_of(run, 0).at("error").get<std::string>(), Contains("not reached barrier, operation 2"));
}

TEST_CASE("a tensor smaller than its receiver's fills the beginning, and a larger one ends the receiver with "
          "both sizes, whom the others name") {
  const auto smaller = exchange(2, {"--sent", "2"});
  INFO(smaller.transcript());
  REQUIRE(smaller.ranks.at(1).exit_code == 0);
  CHECK(output_of(smaller, 1).at("sum") == 2);
  const auto larger = exchange(2, {"--sent", "6", "--timeout", "30"});
  INFO(larger.transcript());
  CHECK(larger.ranks.at(1).exit_code != 0);
  CHECK_THAT(larger.ranks.at(1).err, Contains("op.preamble.length <= op.nbytes. 24 vs 16"));
  REQUIRE(larger.ranks.at(0).exit_code == 6);
  CHECK(output_of(larger, 0).at("failed_ranks") == "1");
}
