// SPDX-License-Identifier: MIT
// The output of the commands that print a script.
#pragma once

#include <string>

namespace hpcml::cli {

/// Writes the text to the file, executable, or to standard output where `file` is empty or "-". Prints what
/// is wrong and returns the exit code.
int write_script(const std::string& text, const std::string& file, bool colour);

} // namespace hpcml::cli
