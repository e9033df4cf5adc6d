// SPDX-License-Identifier: MIT
// Reports test cases, or parts of them, that cannot run on this machine.
#pragma once

#include <catch2/catch.hpp>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

namespace hpcml::test {

/// Reports that the rest of the running test case is skipped: as a warning, and as a line of the file that
/// HPCML_TESTS_SKIPPED names. tests/run.sh prints these lines at its end. The caller returns.
inline void skip(const std::string& reason) {
  const auto name = Catch::getResultCapture().getCurrentTestName();
  WARN("skipped: " << reason);
  if (const char* file = std::getenv("HPCML_TESTS_SKIPPED")) {
    const auto line = std::string(program_invocation_short_name) + ": " + name + ": " + reason + "\n";
    std::ofstream(file, std::ios::app) << line << std::flush;
  }
}

/// As skip, when a program or package is missing that tests/run.sh installs. Under tests/run.sh, which sets
/// HPCML_TESTS_REQUIRE_PACKAGES, this fails the test case.
inline void skip_missing(const std::string& package) {
  const auto reason = package + " is not installed";
  if (std::getenv("HPCML_TESTS_REQUIRE_PACKAGES")) FAIL(reason << ", although tests/run.sh installs it");
  skip(reason);
}

} // namespace hpcml::test
