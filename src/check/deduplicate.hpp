// SPDX-License-Identifier: MIT
// One finding per cause, where several rules see the same.
#pragma once

#include <string_view>

#include "check/rule.hpp"

namespace hpcml::check {

/// True if the words of both findings share a character.
bool overlap(const FindingPair& pair);
/// True if the own finding follows from the stronger one alone: it comes later, and only words that are not
/// options are between them.
bool is_tail(const FindingPair& pair);
/// True if the finding is sbatch's refusal of a value that begins with this text.
bool refuses_value(const Finding& stronger, std::string_view beginning);

/// Removes the findings that repeat an earlier one of the same place, and those whose rules yield to another
/// finding of their line. `findings` are in the order of their places.
void deduplicate(std::string_view text, Findings& findings);

} // namespace hpcml::check
