// SPDX-License-Identifier: MIT
// What frameworks print about the world that a process is part of. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace hpcml::failures {

/// Reports of a world of 1: Lightning's line at the start of a process group, and the state that Accelerate
/// prints in each process. Its type is written by its name since Python 3.12, in some versions by its value.
inline constexpr std::array<std::string_view, 3> k_world_reports = {
    "GLOBAL_RANK: 0, MEMBER: 1/1", "Distributed environment: DistributedType.NO",
    "Distributed environment: NO"};

/// True if the text has the part, and white space follows it, or the end of a complete text: "1/16" begins
/// like "1/1".
bool holds_word(std::string_view text, std::string_view part, bool is_complete);

/// True if a complete line of `text` reports a world of 1.
bool reports_world_of_one(std::string_view text);

/// Finds such a report in a stream that arrives in pieces, if it is in the first 1 MiB or so. Programs print
/// it when they begin; a search of all output took a third of the time to pass it on.
class WorldSizeOneDetector {
public:
  static constexpr std::size_t k_search_limit = std::size_t{1} << 20;

  void add(std::string_view bytes);
  bool found() const { return x_found; }

private:
  std::string x_end;          ///< last bytes of the stream so far: a report may continue in the next piece
  std::size_t x_searched = 0; ///< bytes so far
  bool x_found = false;
};

} // namespace hpcml::failures
