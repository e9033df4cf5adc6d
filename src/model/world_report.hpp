// SPDX-License-Identifier: MIT
// What frameworks print about the world that a process is part of. Pure.
#pragma once

#include <string>
#include <string_view>

namespace hpcml::model {

/// True if a complete line of `text` reports a world of 1: Lightning's line at the start of a process group,
/// or the state that Accelerate prints in each process.
bool reports_world_of_one(std::string_view text);

/// Finds such a report in a stream that arrives in pieces.
class WorldReport {
public:
  void add(std::string_view bytes);
  bool found() const { return x_found; }

private:
  std::string x_end; ///< last bytes of the stream so far: a report may continue in the next piece
  bool x_found = false;
};

} // namespace hpcml::model
