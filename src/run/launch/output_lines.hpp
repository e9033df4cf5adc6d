// SPDX-License-Identifier: MIT
// Output of many ranks as one stream: whole lines with a prefix, bytes untouched. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::launch {

/// Merges the pieces that ranks write into lines "[2] text". A complete line is passed on at once. `flush`
/// passes on unfinished lines, which are continued if no other rank has written in between.
class LineInterleaver {
public:
  /// `prefixes`: the prefix of the lines of each source.
  explicit LineInterleaver(std::vector<std::string> prefixes);
  /// `index`: which of the constructor's sources wrote `bytes`. Returns what to write now.
  std::string add(std::size_t index, std::string_view bytes);
  /// Returns the unfinished text of one rank: a prompt or a progress bar.
  std::string flush(std::size_t index);
  /// The rest of a rank that has ended, with the newline it did not write.
  std::string finish(std::size_t index);
  /// Returns a complete line of hpcml, at the start of a line.
  std::string own_line(const std::string& line);
  bool has_pending(std::size_t index) const { return !x_pending[index].empty(); }

private:
  std::string start_line(std::size_t index);
  std::string flush_longest();
  void forget(std::size_t index);
  std::vector<std::string> x_prefixes;
  std::vector<std::string> x_pending;
  int x_open = -1; ///< the source of the unfinished line at the end of the output; -1: none
};

} // namespace hpcml::launch
