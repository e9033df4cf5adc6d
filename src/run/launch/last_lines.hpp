// SPDX-License-Identifier: MIT
// The end of what a rank has written, for the report of its failure. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::launch {

/// Keeps the last bytes of a stream.
class LastLines {
public:
  static constexpr std::size_t k_lines = 20;
  static constexpr std::size_t k_bytes = 16U << 10; ///< of all lines together

  void add(std::string_view bytes);
  /// Returns the last lines without their line ends, at most `k_lines` of at most `k_bytes`; the last may
  /// be unfinished. A line contains what a terminal would show of it: the text after its last '\r'. It
  /// begins with "…" if its beginning is lost.
  std::vector<std::string> lines() const;

private:
  std::string x_bytes;
  bool x_cut = false; ///< there was more before `x_bytes`
};

} // namespace hpcml::launch
