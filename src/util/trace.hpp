// SPDX-License-Identifier: MIT
// Developer trace (HPCML_TRACE=1 or -v). What users must know is a Diagnostic or narration, never a trace line.
#pragma once

#include <string>

namespace hpcml::util {

enum class TraceLevel { off, info, debug };
void set_trace(TraceLevel level);
void trace_info(const std::string& line);
void trace_debug(const std::string& line);

} // namespace hpcml::util
