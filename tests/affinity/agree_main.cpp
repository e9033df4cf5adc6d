// SPDX-License-Identifier: MIT
// affinity_agree FILE: every difference between hpcml's placement and a file of cases; the last line counts.
#include <iostream>

#include "agree_cases.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: agree FILE\nruns the placement cases of FILE and prints what differs\n";
    return 2;
  }
  const auto outcomes = hpcml::agree::run_cases(argv[1]);
  if (!outcomes) {
    std::cerr << "agree: error: " << outcomes.error().what << "\n";
    return 3;
  }
  std::size_t agreed = 0;
  for (const auto& outcome : *outcomes) {
    if (outcome.differences.empty())
      ++agreed;
    else
      std::cout << outcome.id << " (" << outcome.use << ") differs\n";
    for (const auto& difference : outcome.differences) std::cout << "  " << difference << "\n";
    for (const auto& open : outcome.open)
      std::cout << outcome.id << " (" << outcome.use << ") does not determine " << open << "\n";
  }
  std::cout << "agree " << agreed << " of " << outcomes->size() << "\n";
  return agreed == outcomes->size() ? 0 : 1;
}
