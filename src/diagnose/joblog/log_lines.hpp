// SPDX-License-Identifier: MIT
// A log of any size as lines, and what the lines of NCCL and RCCL say of themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/failures/failure_table.hpp"

namespace hpcml::joblog {

using failures::holds;

/// Bytes of a line that are looked at; what follows in it is passed over.
inline constexpr std::size_t k_most_of_line = 8192;

/// Cuts blocks of bytes into lines; remembers one line at most.
class LineCutter {
public:
  /// Calls `visit(number, line)` for each line that ends in the block; lines count from 1.
  template <class Visit> void add(std::string_view block, Visit visit) {
    while (!block.empty()) {
      const auto end = block.find('\n');
      const auto part = block.substr(0, end);
      if (end == std::string_view::npos) return keep(part);
      ++x_lines;
      if (x_begun.empty()) {
        visit(x_lines, part.substr(0, k_most_of_line));
      } else {
        keep(part);
        visit(x_lines, std::string_view(x_begun));
        x_begun.clear();
      }
      block.remove_prefix(end + 1);
    }
  }
  /// The last line, where the log does not end with a line's end.
  template <class Visit> void end(Visit visit) {
    if (x_begun.empty()) return;
    visit(++x_lines, std::string_view(x_begun));
    x_begun.clear();
  }
  std::uint64_t lines() const { return x_lines; }

private:
  void keep(std::string_view part) {
    if (x_begun.size() < k_most_of_line) x_begun += part.substr(0, k_most_of_line - x_begun.size());
  }

  std::string x_begun;
  std::uint64_t x_lines = 0;
};

/// The writer of a line, as far as the line names it.
struct LogLineProcess {
  std::string host;             ///< empty: unknown
  unsigned long long pid = 0;   ///< 0: unknown
  std::optional<unsigned> rank; ///< as a launcher put it in front: "[3] ", "3: ", "[rank3]: "
};

/// A line of NCCL or RCCL: "nid000012:4711:4711 [0] NCCL INFO NET/OFI Using aws-ofi-rccl 1.4.0", after a
/// prefix of launchers. Host and process may be missing.
struct NcclLine {
  LogLineProcess writer;
  std::string device;    ///< between the brackets; empty: unknown
  bool warning = false;  ///< "NCCL WARN"
  std::string_view text; ///< the rest of the line
};
std::optional<NcclLine> parse_nccl_line(std::string_view line);

/// A line without what launchers, torch, loggers and progress bars put in front of it.
struct PrefixedLine {
  std::optional<unsigned> rank; ///< of the last prefix that names one: "[rank3]:", "[1,3]<stderr>:", "3: ", …
  std::string_view text;
};
PrefixedLine split_prefix(std::string_view line);

/// The rank that a launcher or torch names in front of a line; nothing where none does.
std::optional<unsigned> rank_in_front(std::string_view line);
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// What of a line is shown: without its end, at most 300 bytes of it.
std::string clipped(std::string_view line);

} // namespace hpcml::joblog
