// SPDX-License-Identifier: MIT
// New cases from measured ones, by seed.
#pragma once

#include <random>

#include "live_cluster.hpp"

namespace hpcml::agree {

/// Cases with values, options, orders, variables and characters of other cases; the same seed gives the same
/// cases.
class Mutator {
public:
  Mutator(std::vector<Case> base, unsigned seed);
  /// A case of a group of the base, "GROUP-SEED-NUMBER".
  Case next();

private:
  using Lines = std::vector<std::string>;
  std::size_t pick(std::size_t count) { return count == 0 ? 0 : x_random() % count; }
  const std::string& any_directive() { return x_directives[pick(x_directives.size())]; }
  void change(Case& item, Lines& lines);
  void change_value(std::string& line);
  void change_characters(std::string& line);
  void move_to_environment(Case& item, std::string& line);

  std::vector<Case> x_base;
  std::vector<std::string> x_directives;                        ///< whole lines
  std::map<std::string, std::vector<std::string>> x_values;     ///< by kind of value
  std::vector<std::pair<std::string, std::string>> x_variables; ///< that a case sets
  std::mt19937 x_random;
  unsigned x_seed;
  unsigned x_count = 0;
};

} // namespace hpcml::agree
