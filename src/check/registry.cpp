// SPDX-License-Identifier: MIT
// The list of rules. Each file NAME.cpp in rules/ defines `Rule rule_NAME()`; the build names them all in
// check_rules.inc. Functions, not objects: every start of the program, also as a rank of a job, would pay for
// objects with their thousand examples.
#include <algorithm>
#include <iterator>

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

const std::vector<Rule>& rules_without_examples() {
#define HPCML_RULE(NAME) NAME,
  static constexpr Rule (*k_makers[])() = {
#include "check_rules.inc"
  };
#undef HPCML_RULE
  static const auto list = [] {
    std::vector<Rule> rules;
    rules.reserve(std::size(k_makers));
    for (auto* make : k_makers) {
      auto& rule = rules.emplace_back(make());
      // Freed at once: the next rule's examples take the same memory.
      std::vector<Example>().swap(rule.bad);
      std::vector<Example>().swap(rule.good);
    }
    return rules;
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
