// SPDX-License-Identifier: MIT
// What was said of a file that was loaded.
#pragma once

#include <string>

#include "core/diag/diagnostic.hpp"

namespace hpcml::testing {

/// All findings of a load of a profile or a job file, as people see them.
template <class Load> std::string all_text(const Load& load) {
  std::string text;
  for (const auto& finding : load.diagnostics) text += diag::render_text(finding, load.source, false);
  return text;
}

} // namespace hpcml::testing
