// SPDX-License-Identifier: MIT
// Gradients are summed while others are still computed.
#include <catch2/catch.hpp>

#include "rank_program.hpp"
#include "torch/helper/ranks_helper.hpp"

using namespace torch_test;

TEST_CASE("the last layer's all_reduce ends before the first layer's gradient is there") {
  // Backward waits before the first layer until Gloo has ended an operation of this step: where sums begin
  // only at its end, it waits in vain.
  const auto run = run_ranks(2, {0, 1}, [](int) {
    return std::vector<std::string>{ddp_rank(), "overlap", "--wait", "--steps", "4"};
  });
  INFO(run.transcript());
  for (int rank = 0; rank < 2; ++rank) {
    REQUIRE(run.ranks.at(rank).exit_code == 0);
    const auto output = nlohmann::json::parse(run.ranks.at(rank).out);
    CHECK(output.at("buckets") == 6);
    CHECK(output.at("overlapped") == 3); // all but the first one, which has one bucket
  }
}
