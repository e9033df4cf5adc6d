// SPDX-License-Identifier: MIT
// What commands say on standard error.
#include <cstdio>

#include "cli/command.hpp"
#include "core/diag/line_table.hpp"
#include "core/diag/visible_text.hpp"
#include "core/util/visible.hpp"

namespace hpcml::cli {

void print_diagnostics(const diag::Diagnostics& list, const std::string& source, bool colour) {
  if (list.empty()) return;
  const diag::LineTable lines(source);
  for (const auto& diagnostic : list)
    std::fputs(diag::render_line_text(diagnostic, lines.line(diagnostic.location.line), colour).c_str(),
               stderr);
}

void print_error(const std::string& message, const std::string& hint, bool colour) {
  std::string text = colour ? "hpcml: \033[1;31merror\033[0m: " : "hpcml: error: ";
  text += diag::visible_text(message) + "\n";
  if (!hint.empty()) text += "  hint: " + diag::visible_text(hint) + "\n";
  std::fputs(text.c_str(), stderr);
}

void print_note(const std::string& sentence) { print_line("hpcml: " + sentence); }

void print_line(const std::string& line) { std::fputs((diag::visible_text(line) + "\n").c_str(), stderr); }

void print_output(const std::string& text) { std::fputs(util::visible(text).c_str(), stdout); }

void print_error(const util::Error& error, bool colour) { print_error(error.what, error.hint, colour); }

} // namespace hpcml::cli
