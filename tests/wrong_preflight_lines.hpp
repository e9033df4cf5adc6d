// SPDX-License-Identifier: MIT
// What the preflight's programs refuse: the helper and the checks in Python have one command line.
#pragma once

#include <string>
#include <vector>

namespace hpcml::test {

inline std::vector<std::vector<std::string>> wrong_preflight_lines() {
  return {{},
          {"preflite"},
          {"preflight", "--timeout"},
          {"preflight", "--timeout", "0"},
          {"preflight", "--backend", "mpi"},
          {"preflight", "--colour", "red"}};
}

} // namespace hpcml::test
