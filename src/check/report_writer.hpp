// SPDX-License-Identifier: MIT
// Findings as text, JSON, SARIF 2.1.0 or GitHub's workflow commands, script by script: nothing is kept of
// those that went before.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "check/rule.hpp"

namespace hpcml::check {

/// Writes the findings of many scripts: `begin`, `add` for each script, `end`, one after the other.
class ReportWriter {
public:
  ReportWriter() = default;
  ReportWriter(const ReportWriter&) = delete;
  ReportWriter& operator=(const ReportWriter&) = delete;
  virtual ~ReportWriter() = default;
  virtual std::string begin() { return {}; }
  /// `text` is what the findings' places point into.
  virtual std::string add(std::string_view text, const Findings& findings) = 0;
  virtual std::string end() { return {}; }
};

/// `format`: "text", "json", "sarif" or "github"; `colour` counts for text only.
std::unique_ptr<ReportWriter> make_report(std::string_view format, bool colour);

/// "error", "warning", "note".
std::string_view level_name(diag::Severity severity);
/// A path as a URI reference: relative ones stay relative, whatever may not be in a URI becomes %XX.
std::string file_uri(std::string_view path);
/// "3 errors, 1 warning, 1 note"; "no findings" without any.
std::string count_text(unsigned errors, unsigned warnings, unsigned notes);

} // namespace hpcml::check
