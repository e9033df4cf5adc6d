// SPDX-License-Identifier: MIT
// The output of the commands that print a script.
#pragma once

#include <string>

#include "core/util/result.hpp"

namespace hpcml::cli {

/// Writes the text to the file, executable, or to standard output where `file` is empty or "-". Prints what
/// is wrong and returns the exit code. `is_script`: false for other texts, which have no checksum.
int write_script(const std::string& text, const std::string& file, bool colour, bool is_script = true);

/// Writes a generated script to the file, with a checksum by which it is recognised later. A file that was
/// edited since, or that hpcml did not write, is kept as FILE.old, with a note.
util::Status write_script_file(const std::string& script, const std::string& file);

} // namespace hpcml::cli
