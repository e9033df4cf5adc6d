// SPDX-License-Identifier: MIT
// Profiles that people bring are checked against the JSON Schema (site_schema.hpp).
#pragma once

#include <string_view>

#include "diag/diagnostic.hpp"
#include "spec/json_tree.hpp"

namespace hpcml::spec {

/// What the schema finds, each placed at its value. `text` is the text that `root` was parsed from.
diag::Diagnostics check_schema(const JsonNode& root, std::string_view text);

} // namespace hpcml::spec
