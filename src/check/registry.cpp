// SPDX-License-Identifier: MIT
// The list of rules. Each file NAME.cpp in rules/ defines `Rule rule_NAME()`; the build names them all in
// check_rules.inc. Functions, not objects: every start of the program, also as a rank of a job, would pay for
// objects with their thousand examples.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {

#define HPCML_RULE(NAME) Rule NAME();
#include "check_rules.inc"
#undef HPCML_RULE

const std::vector<const Rule*>& all_rules() {
#define HPCML_RULE(NAME) NAME(),
  static const Rule rules[] = {
#include "check_rules.inc"
  };
#undef HPCML_RULE
  static const auto list = [] {
    std::vector<const Rule*> pointers;
    for (const auto& rule : rules) pointers.push_back(&rule);
    return pointers;
  }();
  return list;
}

const Rule* find_rule(std::string_view id) {
  const auto& rules = all_rules();
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const Rule* rule) { return rule->id == id; });
  return found == rules.end() ? nullptr : *found;
}

} // namespace hpcml::check
