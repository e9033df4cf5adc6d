// SPDX-License-Identifier: MIT
// What commands say on standard error.
#include <cstdio>

#include "cli/command.hpp"
#include "diag/visible_text.hpp"

namespace hpcml::cli {

void print_diagnostics(const diag::Diagnostics& list, const std::string& source, bool colour) {
  for (const auto& diagnostic : list)
    std::fputs(diag::render_text(diagnostic, source, colour).c_str(), stderr);
}

void print_error(const std::string& message, const std::string& hint, bool colour) {
  std::string text = colour ? "hpcml: \033[1;31merror\033[0m: " : "hpcml: error: ";
  text += diag::visible_text(message) + "\n";
  if (!hint.empty()) text += "  hint: " + diag::visible_text(hint) + "\n";
  std::fputs(text.c_str(), stderr);
}

void print_note(const std::string& sentence) { std::fprintf(stderr, "hpcml: %s\n", sentence.c_str()); }

void print_error(const util::Error& error, bool colour) { print_error(error.what, error.hint, colour); }

} // namespace hpcml::cli
