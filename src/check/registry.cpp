// SPDX-License-Identifier: MIT
// The list of rules. Each file NAME.cpp in rules/ defines `const Rule k_NAME`; the build names them all in check_rules.inc.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {

#define HPCML_RULE(NAME) extern const Rule NAME;
#include "check_rules.inc"
#undef HPCML_RULE

const std::vector<const Rule*>& all_rules() {
#define HPCML_RULE(NAME) &NAME,
  static const std::vector<const Rule*> rules = {
#include "check_rules.inc"
  };
#undef HPCML_RULE
  return rules;
}

const Rule* find_rule(std::string_view id) {
  const auto& rules = all_rules();
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule* rule) { return rule->id == id; });
  return found == rules.end() ? nullptr : *found;
}

} // namespace hpcml::check
