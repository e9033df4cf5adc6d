// SPDX-License-Identifier: MIT
// What the old script computes from its nodes and GPUs, and the vendor's programs that it asks, in the new
// script.
#pragma once

#include <string>
#include <vector>

#include "generate/import_script/import_state.hpp"
#include "generate/import_script/text_cuts.hpp"

namespace hpcml::import_script {

/// A text of a program's arguments, and what replaces it.
struct ArgumentReplacement {
  std::string before, after;
};

/// Writes the old job's numbers into the expressions of the text that stays whose results would change, and
/// returns those in the arguments of launches.
std::vector<ArgumentReplacement> keep_old_numbers(ImportState& porting, TextCuts& cuts,
                                                  const std::vector<FoundLaunch>& launches,
                                                  const SizeEvaluator& sizes);

/// Replaces nvidia-smi by rocm-smi, or the reverse, if only the other one exists on the new site and both
/// print the same kind of table.
void replace_vendor_tools(ImportState& porting, model::ImportedBody& body);

/// Returns the arguments of a program with a number of nodes or GPUs, which do not follow the new numbers.
std::string counting_argument(const FoundLaunch& found);

} // namespace hpcml::import_script
