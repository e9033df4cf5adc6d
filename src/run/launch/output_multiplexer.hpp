// SPDX-License-Identifier: MIT
// What the ranks write, from their pipes to one of our descriptors, in whole lines and at the reader's pace,
// and into files.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/failures/world_size_one_detector.hpp"
#include "core/util/result.hpp"
#include "run/launch/last_lines.hpp"
#include "run/launch/output_files.hpp"
#include "run/launch/output_lines.hpp"
#include "run/launch/output_pipes.hpp"
#include "run/launch/output_queue.hpp"
#include "run/launch/output_routes.hpp"

namespace hpcml::launch {

/// The pipes of many ranks and the one descriptor that they end in.
class OutputMultiplexer {
public:
  using Clock = std::chrono::steady_clock;

  /// `routes`: of each source its way. `print_line`: what is lost.
  OutputMultiplexer(System& system, int target, std::vector<OutputRoute> routes, MessageSink print_line = {});
  OutputMultiplexer(const OutputMultiplexer&) = delete;
  OutputMultiplexer& operator=(const OutputMultiplexer&) = delete;

  /// Descriptors that `open_files` needs.
  std::size_t file_count() const { return x_files.count(); }
  /// Opens the files of the sources; an error before any rank should start.
  util::Status open_files(const OutputOptions& output_options, unsigned node_rank);
  /// Takes the reading end of a source's pipe.
  util::Status add_source(std::size_t source, int fd);
  /// The descriptor to poll for reading; while the reader is so slow that the ranks have to wait for it, only
  /// of the sources that it does not see.
  int read_fd() const { return x_pipes.poll_fd(!x_queue.full()); }
  /// The descriptor to poll for writing; -1 while there is nothing to write.
  int write_fd() const { return x_queue.empty() ? -1 : x_queue.fd(); }
  /// Reads once from each source with data; called when poll reports some.
  void read_some();
  /// Reads what a source holds at once: of a rank that has ended, its last words.
  void read_to_end(std::size_t source);
  void write_some();
  /// Shows unfinished lines without recent output: a prompt, a progress bar. Not while the reader is
  /// slower than the ranks.
  void flush_idle();
  /// When to call `flush_idle` again.
  std::optional<Clock::time_point> flush_at() const { return x_idle.flush_at; }
  /// A line of launch itself between those of the ranks.
  void print_line(const std::string& line);
  /// Reads a part of what the pipes hold after the ranks have exited, without waiting for other processes
  /// that hold them open. Returns false if nothing is left.
  bool take_rest();
  /// Ends every line that is not finished, and closes the pipes and the files; what goes into files is read
  /// to its end before, also where the reader has been given up.
  void close_sources();
  /// The last lines of a source of standard error.
  std::vector<std::string> last_lines(std::size_t source) const { return x_sources[source].words.lines(); }
  /// When the source wrote last, nothing if it never did. Now, while we do not read what it writes.
  std::optional<Clock::time_point> last_written(std::size_t source) const;
  /// When it wrote first; nothing if it never did.
  std::optional<Clock::time_point> first_written(std::size_t source) const;
  /// Number of sources that have reported that their process is the only one of its world.
  unsigned world_reports() const;
  /// True if the source has reported that its process is the only one of its world.
  bool reports_world_of_one(std::size_t source) const { return x_sources[source].world.found(); }
  /// errno of the write to our own output that took something from a rank; 0 where none has, or all that the
  /// ranks write is in files.
  int fault() const;
  OutputQueue& queue() { return x_queue; }
  const OutputQueue& queue() const { return x_queue; }

private:
  struct Source {
    OutputRoute route{};
    LastLines words{}; ///< of standard error
    failures::WorldSizeOneDetector world{};
    std::size_t bytes = 0;      ///< read in total
    std::size_t last_piece = 0; ///< read last
    Clock::time_point last{};   ///< when that was
    Clock::time_point first{};  ///< when the first was
    std::size_t most =
        0; ///< the limit of `bytes` after the ranks' end, as other processes may continue to write
  };
  /// Unfinished lines are shown when their sources are idle.
  struct IdleFlush {
    std::optional<Clock::time_point> flush_at{};
    Clock::time_point reading_since{}; ///< since when the sources have been read without a pause
  };
  bool read_source(std::size_t source);
  void add_text(std::size_t source, std::string_view text);
  void end_source(std::size_t source);

  System& x_system;
  OutputQueue x_queue;
  LineInterleaver x_lines;
  std::vector<Source> x_sources;
  OutputPipes x_pipes;
  OutputFiles x_files;
  MessageSink x_report;
  bool x_break_reported = false; ///< that there is no reader any more
  int x_target;
  IdleFlush x_idle;
};

} // namespace hpcml::launch
