// SPDX-License-Identifier: MIT
// Placements that documents and other tools publish.
#include <catch2/catch.hpp>

#include <map>

#include "agree_cases.hpp"

using namespace hpcml;

TEST_CASE("Every published placement case agrees") {
  const auto outcomes = agree::run_cases(std::string(HPCML_SOURCE_DIR) + "/tests/affinity/cases.json");
  REQUIRE(outcomes.ok());
  std::map<std::string, int> uses;
  for (const auto& outcome : *outcomes) {
    ++uses[outcome.use];
    INFO(outcome.id);
    CHECK(outcome.differences == std::vector<std::string>{});
  }
  // A reader that loses cases must not look like agreement.
  CHECK(uses == std::map<std::string, int>{{"plan", 23},
                                           {"derived", 6},
                                           {"negative", 6},
                                           {"parser", 6},
                                           {"foreign-policy", 4},
                                           {"inventory", 1},
                                           {"slurm-observed", 15}});
}

TEST_CASE("Policies of other tools give what those tools give") {
  // Recorded from the tools themselves: mpibind's own expectations, gpu_affinity and torch.numa.binding run.
  const auto outcomes = agree::run_cases(std::string(HPCML_SOURCE_DIR) + "/tests/affinity/other_tools.json");
  REQUIRE(outcomes.ok());
  CHECK(outcomes->size() == 144);
  for (const auto& outcome : *outcomes) {
    INFO(outcome.id);
    CHECK(outcome.differences == std::vector<std::string>{});
  }
}
