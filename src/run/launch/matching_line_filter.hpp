// SPDX-License-Identifier: MIT
// Of a rank's lines those that hold one of some strings. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::launch {

/// Takes the pieces that a rank writes and gives whole lines, with a prefix.
class MatchingLineFilter {
public:
  MatchingLineFilter() = default; ///< lets nothing through
  MatchingLineFilter(std::vector<std::string> needles, std::string prefix);
  /// The lines that are complete now and hold one of the strings.
  std::string add(std::string_view bytes);
  /// Returns the unfinished last line, completed by a line end.
  std::string finish();

private:
  /// A longer line is looked at in parts: once one holds a string all that follows is let through.
  static constexpr std::size_t k_longest = 256U << 10;
  bool holds_one(std::string_view line) const;
  void take_long_part(std::string& out);
  std::vector<std::string> x_needles;
  std::size_t x_overlap = 0; ///< bytes of a part that may begin a string
  std::string x_prefix;
  std::string x_pending;
  bool x_passing = false; ///< the line that is being read is let through already
};

} // namespace hpcml::launch
