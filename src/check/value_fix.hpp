// SPDX-License-Identifier: MIT
// Fixes of values that sbatch refuses although it is plain what they mean.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/rule.hpp"

namespace hpcml::check {

/// Another spelling of the value; nothing where it is not plain what was meant.
using Respell = std::optional<std::string> (*)(std::string_view value);

/// Fixes the option at that place: a stray '=', spaces around it, a missing dash, and what `respell` knows.
/// Nothing unless this version of sbatch takes the outcome.
std::vector<Edit> fix_value(const LintContext& subject, diag::TextRange option, Respell respell = nullptr);
/// The directive's word that begins at that byte, and the words before it; empty where none does.
std::vector<slurm::HeaderWord> words_up_to(const LintContext& subject, std::size_t offset);

} // namespace hpcml::check
