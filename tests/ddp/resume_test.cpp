// SPDX-License-Identifier: MIT
// A training that is killed and started again ends with the weights of one that was not.
#include <catch2/catch.hpp>

#include <filesystem>

#include "temp_folder.hpp"
#include "torch/ranks_helper.hpp"
#include "util/file.hpp"

using namespace torch_test;
using namespace hpcml;
namespace fs = std::filesystem;
using Catch::Contains;

namespace {

constexpr int k_ranks = 2;

Run train(const fs::path& folder, int seed, const std::string& optimizer, int kill_at) {
  return run_ranks(k_ranks, {0, 1}, [&](int) {
    return std::vector<std::string>{
        HPCML_DDP_RANK,       "resume",      "--folder", folder.string(), "--seed",
        std::to_string(seed), "--optimizer", optimizer,  "--kill-at",     std::to_string(kill_at)};
  });
}

std::string weights(const fs::path& folder, int rank) {
  const auto bytes = util::read_file(folder / ("weights." + std::to_string(rank)));
  REQUIRE(bytes);
  REQUIRE(bytes->size() > 1000);
  return *bytes;
}

} // namespace

TEST_CASE("a training that is killed goes on from its newest whole checkpoint, to the same bits") {
  for (int seed = 1; seed <= 4; ++seed) {
    const std::string optimizer = seed % 2 == 0 ? "adam" : "sgd";
    const int kill_at = 2 + (seed * 7) % 17;
    const test::TempFolder whole, killed;
    INFO("seed " << seed << ", " << optimizer << ", killed in step " << kill_at);
    const auto first = train(whole.path(), seed, optimizer, -1);
    INFO(first.transcript());
    REQUIRE(first.ranks.at(0).exit_code == 0);
    CHECK(train(killed.path(), seed, optimizer, kill_at).ranks.at(0).exit_code == 128 + 9);
    const auto second = train(killed.path(), seed, optimizer, -1);
    INFO(second.transcript());
    for (int rank = 0; rank < k_ranks; ++rank) {
      REQUIRE(second.ranks.at(rank).exit_code == 0);
      const auto said = nlohmann::json::parse(second.ranks.at(rank).out);
      CHECK(said.at("resumed") == (kill_at - 1) / 3 * 3);
      CHECK(said.at("seen") == nlohmann::json::parse(first.ranks.at(rank).out).at("seen"));
      const bool same_bits = weights(whole.path(), rank) == weights(killed.path(), rank);
      CHECK(same_bits);
    }
  }
}
