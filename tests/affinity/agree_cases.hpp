// SPDX-License-Identifier: MIT
// Runs a file of placement cases (nodes, requests and what documents and other tools expect) against hpcml.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::agree {

struct Outcome {
  std::string id;
  std::string use;                      ///< "plan", "derived", "negative", "parser", "foreign-policy", …
  std::vector<std::string> differences; ///< empty: it agrees
  std::vector<std::string> open;        ///< what the case does not determine and nobody compared
};

/// Every case of the file (FILE, or FILE.gz), in its order. Recorded topologies that a case names are looked
/// for beside the file, in `topologies` folders near it, and in tests/affinity/topologies.
util::Result<std::vector<Outcome>> run_cases(const std::filesystem::path& file);

} // namespace hpcml::agree
