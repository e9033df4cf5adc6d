// SPDX-License-Identifier: MIT
// What the runners of measured cases share: a file to read, what differs, and a count as the last line.
#pragma once

#include <iostream>

namespace hpcml::agree {

/// Runs the cases of the only argument by `run`, shows them by `show`, and ends with 0 where at least
/// `percent` of them agree.
template <class Run, class Show>
int run_agreement(int argc, char** argv, const char* does, const Run& run, const Show& show,
                  std::size_t percent) {
  if (argc != 2) {
    std::cerr << "usage: agree FILE\n" << does << "\n";
    return 2;
  }
  const auto outcomes = run(argv[1]);
  if (!outcomes) {
    std::cerr << "agree: error: " << outcomes.error().what << "\n";
    return 3;
  }
  show(*outcomes);
  std::size_t agreed = 0;
  for (const auto& outcome : *outcomes) agreed += outcome.differences.empty() ? 1 : 0;
  std::cout << "agree " << agreed << " of " << outcomes->size() << "\n";
  return agreed * 100 >= outcomes->size() * percent && !outcomes->empty() ? 0 : 1;
}

} // namespace hpcml::agree
