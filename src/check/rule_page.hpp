// SPDX-License-Identifier: MIT
// The pages of the rules: the list and one rule, as text and as JSON.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "check/check_script.hpp"

namespace hpcml::check {

/// The profile of that id, which stays where it is; null where there is none.
using SiteLookup = std::function<const model::Site*(std::string_view id)>;

/// What an example is checked for.
TargetCluster example_target(const Example& example, const SiteLookup& sites);

/// Returns all rules. `format`: "text" (a line per rule: ID, severity, fix, title) or "json" (all of the
/// pages).
std::string render_rules(std::string_view format, const SiteLookup& sites);
/// Why the rule exists, examples, how to silence it.
std::string render_rule(const Rule& rule, std::string_view format, const SiteLookup& sites);

} // namespace hpcml::check
