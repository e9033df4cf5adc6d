// SPDX-License-Identifier: MIT
// slurm_versions_live: asks a real sbatch about cases made by seed, and writes what it did in the format of
// cases.json.
#include <charconv>
#include <fmt/format.h>
#include <iostream>

#include "core/util/file.hpp"
#include "live_cases.hpp"

int main(int argc, char** argv) {
  const auto number = [](std::string_view text) {
    unsigned value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  if (argc != 6) {
    std::cerr << "usage: live CASES COUNT SEED PREFIX OUT\nasks the sbatch under PREFIX about COUNT "
                 "mutations of CASES (files joined by commas; 0: CASES as they are) and writes what it did "
                 "to OUT\n";
    return 2;
  }
  const auto written =
      hpcml::agree::measure_mutations(argv[1], number(argv[2]), number(argv[3]), argv[4], argv[5]);
  if (!written) {
    std::cerr << "live: error: " << written.error().what << "\n";
    return 5;
  }
  return 0;
}
