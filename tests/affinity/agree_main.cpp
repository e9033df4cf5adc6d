// SPDX-License-Identifier: MIT
// affinity_agree FILE: every difference between hpcml's placement and a file of cases; the last line counts.
#include "../agreement.hpp"
#include "agree_cases.hpp"

int main(int argc, char** argv) {
  const auto show = [](const auto& outcomes) {
    for (const auto& outcome : outcomes) {
      if (!outcome.differences.empty()) std::cout << outcome.id << " (" << outcome.use << ") differs\n";
      for (const auto& difference : outcome.differences) std::cout << "  " << difference << "\n";
      for (const auto& open : outcome.open)
        std::cout << outcome.id << " (" << outcome.use << ") does not determine " << open << "\n";
    }
  };
  const auto run = [](const char* file) { return hpcml::agree::run_cases(file); };
  return hpcml::agree::run_agreement(argc, argv, "runs the placement cases of FILE and prints what differs",
                                     run, show, 100);
}
