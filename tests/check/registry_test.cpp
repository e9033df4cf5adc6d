// SPDX-License-Identifier: MIT
// The two lists of rules: for pages and tests with their examples, for a check without.
#include <catch2/catch.hpp>

#include "check/rule.hpp"

using namespace hpcml;

TEST_CASE("a check has every rule, as its page has it, but for the examples") {
  const auto& all = check::all_rules();
  const auto& lean = check::rules_without_examples();
  REQUIRE(lean.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i]->id);
    CHECK(lean[i].id == all[i]->id);
    CHECK(lean[i].severity == all[i]->severity);
    CHECK(lean[i].find == all[i]->find);
    CHECK(lean[i].fix == all[i]->fix);
    CHECK(lean[i].likely_refusal == all[i]->likely_refusal);
    CHECK(lean[i].bad.capacity() + lean[i].good.capacity() == 0);
    CHECK(check::find_rule(all[i]->id) == all[i]);
  }
}
