// SPDX-License-Identifier: MIT
// The first errors that a log itself names, for logs in which no known failure is found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "diagnose/joblog/failures.hpp"

namespace hpcml::joblog {

/// Reads a log block by block, as FailureReader does.
class FirstErrorReader {
public:
  /// Finds out whether the block, which is made of whole lines, may name an error.
  void begin_block(std::string_view block);
  bool is_worth() const { return x_worth; }
  void read(std::uint64_t number, std::string_view line);
  /// Returns the first exception of each rank, and the first line of each other kind, by their places.
  std::vector<LogFailure> found() const;

private:
  /// A rank's traceback.
  struct Traceback {
    bool is_open = false;
    bool is_ignored = false; ///< Python prints it and continues: "Exception ignored in"
    bool is_reported = false;
    unsigned other_lines = 0; ///< since the last frame
  };
  bool read_traceback(std::uint64_t number, std::string_view line, std::optional<unsigned> rank,
                      std::string_view text);
  void add_exception(std::uint64_t number, std::string_view line, std::optional<unsigned> rank,
                     std::string_view text);
  void add(LogFailure& failure, std::uint64_t number, std::string_view line, std::optional<unsigned> rank);

  bool x_worth = false;
  unsigned x_open = 0; ///< tracebacks
  std::map<std::optional<unsigned>, Traceback> x_tracebacks;
  std::vector<std::pair<std::string, LogFailure>> x_exceptions; ///< by their text without prefix
  LogFailure x_wrapper;                      ///< an exception that only reports that another process failed
  std::map<std::size_t, LogFailure> x_lines; ///< by the kind of line
};

} // namespace hpcml::joblog
