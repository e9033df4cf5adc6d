// SPDX-License-Identifier: MIT
// The list of rules: a new rule is one file and one line here.
#include "check/rule.hpp"

namespace hpcml::check {

extern const Rule k_directive_after_command;
extern const Rule k_directive_disabled;
extern const Rule k_directive_variable;

const std::vector<const Rule*>& all_rules() {
  static const std::vector<const Rule*> rules = {
      &k_directive_after_command,
      &k_directive_disabled,
      &k_directive_variable,
  };
  return rules;
}

} // namespace hpcml::check
