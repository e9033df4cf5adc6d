// SPDX-License-Identifier: MIT
// One finding per cause and word, where several rules see the same.
#pragma once

#include <string_view>

#include "check/rule.hpp"

namespace hpcml::check {

/// Takes out what says again what another finding says: of the parts of a heterogeneous job that share a
/// line, of the words behind one that belongs to no option, of a gap to be filled in that is refused as a
/// value. `findings` in the order of their places.
void deduplicate(std::string_view text, Findings& findings);

} // namespace hpcml::check
