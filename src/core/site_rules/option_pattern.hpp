// SPDX-License-Identifier: MIT
// The form that a site gives the values of options.
#pragma once

#include <string>

#include "core/model/pattern.hpp"
#include "core/model/rule_facts.hpp"

namespace hpcml::site_rules {

/// Whether the value is of the form that the rule requires; any is where it requires none.
bool matches_pattern(const model::SbatchOptionRule& rule, const std::string& value);
/// Whether the value ends as the rule requires.
bool has_suffix(const model::SbatchOptionRule& rule, const std::string& value);

} // namespace hpcml::site_rules
