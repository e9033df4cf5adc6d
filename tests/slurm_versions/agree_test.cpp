// SPDX-License-Identifier: MIT
// hpcml's reader against what ten versions of sbatch really did.
#include <catch2/catch.hpp>

#include "agree_cases.hpp"

using namespace hpcml;

TEST_CASE("The reader agrees with ten versions of sbatch on 99 of 100 measured cases") {
  const auto outcomes = agree::run_cases(HPCML_SOURCE_DIR "/tests/slurm_versions/cases.json");
  REQUIRE(outcomes);
  REQUIRE(outcomes->size() > 10000);
  std::size_t agreed = 0;
  for (const auto& outcome : *outcomes) {
    if (outcome.differences.empty()) ++agreed;
    else WARN(outcome.id << " " << name_of(outcome.version) << ": " << outcome.differences.front());
  }
  CHECK(agreed * 100 >= outcomes->size() * 99);
}

TEST_CASE("The runner sees facts that are wrong") {
  const auto outcomes = agree::run_cases(HPCML_SOURCE_DIR "/tests/slurm_versions/wrong_cases.json");
  REQUIRE(outcomes);
  REQUIRE(outcomes->size() == 13);
  for (const auto& outcome : *outcomes) {
    INFO(outcome.id << " " << name_of(outcome.version));
    CHECK_FALSE(outcome.differences.empty());
  }
}
