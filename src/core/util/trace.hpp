// SPDX-License-Identifier: MIT
// Developer trace (HPCML_TRACE=1 or -v). What users must know is a Diagnostic or narration, never a trace
// line.
#pragma once

#include <string>

namespace hpcml::util {

/// How much is traced; each level has those before it.
enum class TraceLevel { off, info, debug };
/// From here on traces go to standard error, up to this level.
void set_trace(TraceLevel level);
/// What is done: a program that is run, a profile that is read.
void trace_info(const std::string& line);
/// Its details.
void trace_debug(const std::string& line);

} // namespace hpcml::util
