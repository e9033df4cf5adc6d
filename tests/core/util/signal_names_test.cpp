// SPDX-License-Identifier: MIT
// Names of signals, as the C library of this machine has them.
#include <catch2/catch.hpp>

#include <csignal>
#include <cstring>
#include <string>

#include "core/util/signal_names.hpp"

TEST_CASE("signals have the names that the C library gives them") {
  for (int signal = -1; signal <= NSIG; ++signal) {
    const char* name = ::sigabbrev_np(signal);
    const char* found = hpcml::util::find_signal_name(signal);
    CAPTURE(signal);
    REQUIRE((name == nullptr) == (found == nullptr));
    if (name != nullptr) CHECK(std::string("SIG") + name == found);
  }
}
