// SPDX-License-Identifier: MIT
// What the ranks write, from their pipes to one of our descriptors: whole lines, at the reader's pace.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launch/output_lines.hpp"
#include "launch/output_queue.hpp"
#include "util/result.hpp"

namespace hpcml::launch {

/// The pipes of many ranks and the one descriptor that they end in.
class OutputStream {
public:
  using Clock = std::chrono::steady_clock;

  /// `ranks`: of each source its rank; a rank may have several sources.
  OutputStream(int target, const std::vector<unsigned>& ranks, bool colour);
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  /// Takes the reading end of a source's pipe.
  util::Status add_source(std::size_t source, int fd);
  /// The descriptor to poll for reading; -1 while the reader is so slow that the ranks have to wait for it.
  int read_fd() const { return x_queue.full() ? -1 : x_ready; }
  /// The descriptor to poll for writing; -1 while there is nothing to write.
  int write_fd() const { return x_queue.empty() ? -1 : x_queue.fd(); }
  /// Reads once from each source that has something; call it when poll says so.
  void read_some();
  void write_some() { x_queue.write_some(); }
  /// Shows unfinished lines that stand still: a prompt, a progress bar. Not while the reader is behind: what
  /// stands still then is us.
  void flush_idle();
  /// When to call `flush_idle` again.
  std::optional<Clock::time_point> flush_at() const { return x_flush_at; }
  /// A line of launch itself between those of the ranks.
  void say(const std::string& line);
  /// The ranks have ended: takes what their pipes still hold, a part at a time, and waits for nobody who may
  /// hold them open. False once there is nothing left.
  bool take_rest();
  /// Ends every line that is not finished, and closes the pipes.
  void close_sources();
  OutputQueue& queue() { return x_queue; }
  const OutputQueue& queue() const { return x_queue; }

private:
  struct Source {
    int fd = -1;
    std::size_t bytes = 0;      ///< read in all
    std::size_t last_piece = 0; ///< read last
    Clock::time_point last{};   ///< when that was
    std::size_t most = 0;       ///< of `bytes`, once the ranks have ended: somebody else may go on writing
  };
  void read_source(std::size_t source);
  void end_source(std::size_t source);

  OutputQueue x_queue;
  LineMerger x_lines;
  std::vector<Source> x_sources;
  int x_ready = -1; ///< epoll of the sources
  std::optional<Clock::time_point> x_flush_at;
  Clock::time_point x_reading_since{}; ///< since when the sources have been read without a pause
};

} // namespace hpcml::launch
