// SPDX-License-Identifier: MIT
// Findings as SARIF 2.1.0, for code scanning services and editors.
#pragma once

#include <memory>

#include "check/report.hpp"

namespace hpcml::check {

/// One run of the tool, with every rule and the findings' fixes. Columns count UTF-16 code units.
std::unique_ptr<Report> make_sarif_report();

} // namespace hpcml::check
