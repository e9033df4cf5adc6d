// SPDX-License-Identifier: MIT
// Training on several ranks gives what one process computes on the batches of all of them.
#include <catch2/catch.hpp>

#include <set>

#include "core/util/file.hpp"
#include "rank_program.hpp"
#include "temp_directory.hpp"
#include "torch/helper/ranks_helper.hpp"

using namespace torch_test;
using namespace hpcml;

namespace {

/// Runs the ranks and checks each one's largest differences; returns what rank 0 found.
nlohmann::json check_equal(int ranks, const std::vector<std::string>& options, double bound = 1e-12) {
  const auto run = run_all_ranks(ranks, {ddp_rank(), "equal"}, options);
  INFO(run.transcript());
  for (int rank = 0; rank < ranks; ++rank) {
    INFO("rank " << rank);
    REQUIRE(run.ranks.at(rank).exit_code == 0);
    const auto result = nlohmann::json::parse(run.ranks.at(rank).out);
    CHECK(result.at("gradients").get<double>() <= bound);
    CHECK(result.at("weights").get<double>() <= bound);
    CHECK(result.at("norm").get<double>() <= bound);
  }
  return nlohmann::json::parse(run.ranks.at(0).out);
}

} // namespace

TEST_CASE("gradients and weights are those of one process with all batches") {
  const int ranks = GENERATE(1, 2, 3, 4);
  check_equal(ranks, {});
  check_equal(ranks, {"--model", "shared", "--bucket-bytes", "500"});
}

TEST_CASE(
    "odd sizes of buckets, copies in place of parts of buckets, and gradients that are kept change nothing") {
  CHECK(check_equal(3, {"--bucket-bytes", "1"}).at("buckets") == 6); // one for each of the parameters
  check_equal(2, {"--bucket-bytes", "777", "--copies", "--keep-gradients"});
  check_equal(3, {"--keep-gradients", "--clip", "0.5"});
}

TEST_CASE("batches of unequal size weigh by their samples where that is asked for, else each rank weighs the "
          "same") {
  check_equal(3, {"--samples", "weighted", "--bucket-bytes", "400"});
  check_equal(4, {"--samples", "uneven"});
}

TEST_CASE(
    "parameters that some ranks or all of them do not use get the mean over the ranks, or no gradient") {
  check_equal(3, {"--model", "unused", "--bucket-bytes", "300"});
  check_equal(2, {"--model", "unused", "--keep-gradients", "--accumulate", "2"});
  check_equal(2, {"--model", "unused", "--static"});
}

TEST_CASE("accumulated gradients are reduced once, with the last part") {
  check_equal(2, {"--accumulate", "3"});
  check_equal(3, {"--accumulate", "2", "--copies", "--samples", "uneven"});
}

TEST_CASE("a rank that has no batch left takes part with nothing, and ends with the others' weights") {
  check_equal(3, {"--join"});
  check_equal(3, {"--join", "--samples", "weighted", "--bucket-bytes", "400"});
  check_equal(2, {"--join", "--model", "unused"});
}

TEST_CASE("compressed gradients are near the others, and not the same") {
  CHECK(check_equal(2, {"--compress", "fp16", "--steps", "3"}, 2e-2).at("gradients") > 1e-6);
}

TEST_CASE("gradients are averaged when the module is in evaluation mode") {
  check_equal(2, {"--eval"});
  check_equal(2, {"--eval", "--accumulate", "2", "--copies"});
  check_equal(3, {"--eval", "--join"});
}

TEST_CASE("ranks without batches follow passes without gradients and in no_sync") {
  const test::TempDirectory directory;
  std::string kinds;
  for (int i = 0; i < 5; ++i) kinds += "11111 01010 11010 11101 10111 00000 11101 11111 11000 11111 ";
  REQUIRE(util::write_file(directory / "kinds", kinds));
  const auto run = run_all_ranks(
      3, {ddp_rank(), "forwards"},
      {"--join", "--kinds", (directory / "kinds").string(), "--write", (directory / "out").string()});
  INFO(run.transcript());
  std::set<std::string> ends;
  for (int rank = 0; rank < 3; ++rank) {
    REQUIRE(run.ranks.at(rank).exit_code == 0);
    const auto text = util::read_file(directory / ("out." + std::to_string(rank)));
    REQUIRE(text);
    ends.insert(text->substr(text->rfind("end ")));
  }
  CHECK(ends.size() == 1);
}
