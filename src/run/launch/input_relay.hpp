// SPDX-License-Identifier: MIT
// Passes a terminal's input to rank 0, whose process group may not read the terminal. Any other standard
// input is inherited.
#pragma once

#include <string>

#include "core/util/result.hpp"
#include "run/launch/system.hpp"

namespace hpcml::launch {

/// The way from our terminal to rank 0.
class InputRelay {
public:
  explicit InputRelay(System& system) : x_system(system) {}
  ~InputRelay();
  InputRelay(const InputRelay&) = delete;
  InputRelay& operator=(const InputRelay&) = delete;

  /// Makes the way where there is a terminal.
  util::Status open();
  /// What rank 0 gets as its standard input.
  int rank_input() const;
  /// Rank 0 has been started: its end is its own.
  void close_rank_end();
  /// The descriptors to poll, for reading and for writing; -1 while there is nothing to do.
  int read_fd() const;
  int write_fd() const { return x_text.empty() ? -1 : x_out; }
  void read_some();
  void write_some();

private:
  void close_out();
  System& x_system;
  int x_in = -1, x_out = -1; ///< ends of the pipe
  std::string x_text;        ///< read and not taken yet
};

} // namespace hpcml::launch
