// SPDX-License-Identifier: MIT
// What --wheelhouse may name: packages, or a file that lists them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diag/diagnostic.hpp"

namespace hpcml::plan {

/// The path, if the text names a requirements file: one word with a slash, or that ends with ".txt". Spaces
/// around it do not count.
std::optional<std::string> requirements_file(const std::string& text);
/// The words for pip: packages as "torch", "numpy>=1.26", or {"-r", FILE}. What is none of them is a finding
/// about `option` ("--wheelhouse").
std::vector<std::string> requirement_words(const std::string& text, const std::string& option,
                                           diag::Diagnostics& findings);

} // namespace hpcml::plan
