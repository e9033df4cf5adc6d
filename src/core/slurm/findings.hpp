// SPDX-License-Identifier: MIT
// Collects what is wrong in one script, at places given as bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/diag/line_table.hpp"
#include "core/diag/text_range.hpp"

namespace hpcml::slurm {

using diag::TextRange;

/// What is wrong at a place of the script.
struct LocatedFinding {
  diag::Severity severity = diag::Severity::error;
  std::string code;
  std::string message;
  std::string hint;
  TextRange place;
};

/// The findings about one text, all of them, in the order in which they were found.
class LocatedFindings {
public:
  LocatedFindings(std::string file, std::string_view text) : x_file(std::move(file)), x_text(text) {}
  void error(TextRange place, std::string code, std::string message, std::string hint = {}) {
    x_placed.push_back({diag::Severity::error, std::move(code), std::move(message), std::move(hint), place});
  }
  void warning(TextRange place, std::string code, std::string message, std::string hint = {}) {
    x_placed.push_back(
        {diag::Severity::warning, std::move(code), std::move(message), std::move(hint), place});
  }
  /// By their bytes.
  const std::vector<LocatedFinding>& placed() const { return x_placed; }
  /// By lines and columns, for a report.
  diag::Diagnostics list() const {
    diag::Diagnostics list;
    if (x_placed.empty()) return list;
    const diag::LineTable lines(x_text);
    for (const auto& [severity, code, message, hint, place] : x_placed)
      list.push_back({severity, code, message, lines.location_at(x_file, place), hint});
    return list;
  }

private:
  std::string x_file;
  std::string_view x_text;
  std::vector<LocatedFinding> x_placed;
};

} // namespace hpcml::slurm
