// SPDX-License-Identifier: MIT
// The list of rules. Each file NAME.cpp in rules/ defines `Rule rule_NAME()`; the build names them all in
// check_rules.inc. Functions, not objects: every start of the program, also as a rank of a job, would pay for
// objects.
#include <unordered_map>

#include "check/rule.hpp"

namespace hpcml::check {

#define HPCML_RULE(NAME) Rule NAME();
#include "check_rules.inc"
#undef HPCML_RULE

std::span<const Rule> all_rules() {
#define HPCML_RULE(NAME) NAME(),
  static const Rule rules[] = {
#include "check_rules.inc"
  };
#undef HPCML_RULE
  return rules;
}

const Rule* find_rule(std::string_view id) {
  static const auto by_id = [] {
    std::unordered_map<std::string_view, const Rule*> map;
    for (const auto& rule : all_rules()) map.emplace(rule.id, &rule);
    return map;
  }();
  const auto found = by_id.find(id);
  return found == by_id.end() ? nullptr : found->second;
}

} // namespace hpcml::check
