// SPDX-License-Identifier: MIT
// A training that is killed and started again ends with the weights of one that was not.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "core/util/file.hpp"
#include "rank_program.hpp"
#include "temp_directory.hpp"
#include "torch/helper/ranks_helper.hpp"

using namespace torch_test;
using namespace hpcml;
namespace fs = std::filesystem;
using Catch::Contains;

namespace {

constexpr int k_ranks = 2;

Run train(const fs::path& directory, int seed, const std::string& optimizer, int kill_at,
          int last_killed = 1) {
  return run_ranks(k_ranks, {0, 1}, [&](int rank) {
    return std::vector<std::string>{ddp_rank(),    "resume",
                                    "--folder",    directory.string(),
                                    "--seed",      std::to_string(seed),
                                    "--optimizer", optimizer,
                                    "--kill-at",   std::to_string(rank <= last_killed ? kill_at : -1)};
  });
}

/// `.ci/full ddp` asks for more.
int seeds() {
  const char* seeds_set = std::getenv("HPCML_DDP_SEEDS");
  return seeds_set == nullptr ? 2 : std::stoi(seeds_set);
}

std::string weights(const fs::path& directory, int rank) {
  const auto bytes = util::read_file(directory / ("weights." + std::to_string(rank)));
  REQUIRE(bytes);
  REQUIRE(bytes->size() > 1000);
  return *bytes;
}

} // namespace

TEST_CASE("a training that is killed goes on from its newest whole checkpoint, to the same bits") {
  const std::string optimizer = GENERATE("sgd", "adam");
  for (int seed = 1; seed <= seeds(); ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const int kill_at = 1 + static_cast<int>(random() % 19);
    // All ranks, or rank 0 alone: the other one fails then.
    const int last_killed = static_cast<int>(random() % 2);
    const test::TempDirectory whole, killed;
    INFO("seed " << seed << ", " << optimizer << ", killed in step " << kill_at << " ranks 0 to "
                 << last_killed);
    const auto first = train(whole.path(), seed, optimizer, -1);
    INFO(first.transcript());
    REQUIRE(first.ranks.at(0).exit_code == 0);
    CHECK(train(killed.path(), seed, optimizer, kill_at, last_killed).ranks.at(0).exit_code == 128 + 9);
    const auto second = train(killed.path(), seed, optimizer, -1);
    INFO(second.transcript());
    for (int rank = 0; rank < k_ranks; ++rank) {
      REQUIRE(second.ranks.at(rank).exit_code == 0);
      const auto output = nlohmann::json::parse(second.ranks.at(rank).out);
      CHECK(output.at("resumed") == (kill_at - 1) / 3 * 3);
      CHECK(output.at("seen") == nlohmann::json::parse(first.ranks.at(rank).out).at("seen"));
      const bool same_bits = weights(whole.path(), rank) == weights(killed.path(), rank);
      CHECK(same_bits);
    }
  }
}

TEST_CASE("ranks fall back to the older of two checkpoints") {
  const test::TempDirectory directory;
  const auto run = run_all_ranks(k_ranks, {ddp_rank(), "fallback"}, {"--folder", directory.path().string()});
  for (int rank = 0; rank < k_ranks; ++rank) {
    const auto& end = run.ranks.at(rank);
    INFO("rank " << rank << ": " << end.out << end.err.substr(0, 2000));
    REQUIRE(end.exit_code == 0);
    const auto result = nlohmann::json::parse(end.out);
    CHECK(result.at("wrong") == 0);
    CHECK(result.at("loads").get<int>() > 400);
    CHECK_THAT(result.at("refusal").get<std::string>(),
               Contains("no checkpoint in " + directory.path().string() + " can be used: ") &&
                   Contains("step-2/complete: the checkpoint's list of files does not start with"));
    // Rank 0 alone reports, in one line for each.
    std::size_t lines = 0;
    for (auto at = end.err.find("hpcml: warning: cannot use checkpoint " + (directory / "step-2").string());
         at != std::string::npos; at = end.err.find("hpcml: warning: ", at + 1))
      ++lines;
    CHECK(lines == (rank == 0 ? result.at("loads").get<std::size_t>() : 0));
  }
}
