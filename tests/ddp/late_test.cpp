// SPDX-License-Identifier: MIT
// What a wait says of an operation that ends as the wait's time does.
#include <catch2/catch.hpp>

#include "rank_program.hpp"
#include "torch/helper/ranks_helper.hpp"

using namespace torch_test;

TEST_CASE(
    "an operation that ends just after a wait's time was over is done, one that fails then has failed") {
  const auto run = run_ranks(1, {0}, [](int) { return std::vector<std::string>{ddp_rank(), "late"}; });
  INFO(run.transcript());
  REQUIRE(run.ranks.at(0).exit_code == 0);
  const auto output = nlohmann::json::parse(run.ranks.at(0).out);
  CHECK(output.at("ends") == "done");
  CHECK(output.at("fails") == "lost");
  CHECK(output.at("goes_on") == "not yet");
}
