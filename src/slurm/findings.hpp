// SPDX-License-Identifier: MIT
// Collects what is wrong in one script, at places given as offsets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "diag/diagnostic.hpp"
#include "diag/lines.hpp"

namespace hpcml::slurm {

/// Bytes of the script; length 0 where a value came from elsewhere (environment, command line).
struct Place {
  std::size_t offset = 0;
  std::size_t length = 0;
};

/// The findings about one text, all of them, in the order in which they were found.
class Findings {
public:
  Findings(std::string file, std::string_view text) : x_file(std::move(file)), x_text(text) {}
  void error(Place place, std::string code, std::string message, std::string hint = {}) {
    add(diag::Severity::error, place, std::move(code), std::move(message), std::move(hint));
  }
  void warning(Place place, std::string code, std::string message, std::string hint = {}) {
    add(diag::Severity::warning, place, std::move(code), std::move(message), std::move(hint));
  }
  const diag::Diagnostics& list() const { return x_list; }

private:
  void add(diag::Severity severity, Place place, std::string code, std::string message, std::string hint) {
    diag::Span span{x_file, 0, 0, 0};
    if (place.length > 0) {
      if (!x_lines) x_lines.emplace(x_text);
      span = x_lines->span_at(x_file, place.offset, static_cast<unsigned>(place.length));
    }
    x_list.push_back({severity, std::move(code), std::move(message), span, std::move(hint)});
  }

  std::string x_file;
  std::string_view x_text;
  std::optional<diag::Lines> x_lines; ///< once there is something to find
  diag::Diagnostics x_list;
};

} // namespace hpcml::slurm
