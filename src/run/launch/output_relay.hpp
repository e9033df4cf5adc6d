// SPDX-License-Identifier: MIT
// The streams of a node's ranks: their output to ours, to files and to those who ask what a rank wrote, and a
// terminal's input to rank 0. The supervisor polls its descriptors.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <vector>

#include "core/util/log.hpp"
#include "run/launch/input_relay.hpp"
#include "run/launch/launch_context.hpp"
#include "run/launch/output_multiplexer.hpp"
#include "run/launch/rank_process.hpp"
#include "run/resolve/node_setup.hpp"

namespace hpcml::launch {

class OutputRelay {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t k_writers = 2; ///< descriptors of ours that are written
  static constexpr std::size_t k_polled = 6;  ///< with those that are read, and the input

  OutputRelay(const LaunchRequest& request, const RuntimeContext& context,
              std::shared_ptr<const NodeSetup> node);

  /// Descriptors that `open_files` needs.
  std::size_t file_count() const;
  util::Status open_files();
  /// Opens the way from a terminal to rank 0. Processes that are started before do not hold it open.
  util::Status open_input() { return x_input.open(); }
  /// Standard input of rank 0.
  int rank_input() const { return x_input.rank_input(); }
  /// Closes this process's copy of it after the start of the ranks.
  void close_rank_input() { x_input.close_rank_end(); }
  /// Reads the output of a rank from now on, and closes its pipes.
  util::Status add_rank(const RankProcess& process);

  // The loop: `watch` fills what is to be polled, `handle` treats what poll has found.

  void watch(std::span<pollfd, k_polled> ends) const;
  void handle(std::span<const pollfd, k_polled> ends);
  /// The same of what is written alone.
  void watch_writers(std::span<pollfd, k_writers> ends) const;
  void handle_writers(std::span<const pollfd, k_writers> ends);
  /// Shows unfinished lines that have waited for their end long enough.
  void flush_idle();
  /// When to call `flush_idle` again.
  std::optional<Clock::time_point> flush_at() const;

  /// Writes a message to standard error, between the lines of the ranks.
  void print_line(util::LogLevel level, const std::string& text);
  /// Keeps much more for a slow reader from now on, because the ranks must not wait for it while they exit.
  void buffer_output();

  // What the ranks wrote.

  /// Reads what a rank has written to standard error so far.
  void read_last_lines(unsigned local_rank);
  /// Returns the last lines of standard error of a rank: at most 20.
  std::vector<std::string> last_lines(unsigned local_rank) const;
  /// Returns when a rank last wrote to either stream, or the current time while it waits for our reader;
  /// nothing if it never wrote.
  std::optional<Clock::time_point> last_written(unsigned local_rank) const;
  /// Returns when a rank first wrote to either stream; nothing if it never did.
  std::optional<Clock::time_point> first_written(unsigned local_rank) const;
  /// Ranks of this node whose output has reported a world of 1.
  std::vector<unsigned> ranks_in_worlds_of_one() const;
  /// True if a line has reported that all of them have.
  bool has_reported_worlds() const { return x_worlds_reported; }

  // After the exit of the ranks.

  /// Reads a part of what the pipes still hold; false if nothing is left.
  bool read_rest();
  /// True if the reader must accept something before more is read.
  bool is_full() const;
  /// Bytes that are not written yet.
  std::size_t unwritten() const;
  /// Ends the last lines, and closes pipes and files.
  void close_ranks();
  /// Drops what is not written yet, and reports how much that was if its reader accepts it at once.
  void drop_unwritten();
  /// Writes what the reader accepts without waiting.
  void write_errors() { errors().write_some(); }
  /// Returns why our own output could not be written; empty if it could, or if its reader went away.
  std::string fault() const;

private:
  const OutputMultiplexer& errors() const { return x_err ? *x_err : x_out; }
  OutputMultiplexer& errors() { return x_err ? *x_err : x_out; }
  unsigned rank_count() const { return x_node->world.layout.local_world_size; }
  /// The source in `errors()` of a rank's standard error.
  std::size_t error_source(unsigned local_rank) const {
    return x_err ? local_rank : rank_count() + local_rank;
  }
  void check_world_reports();

  const LaunchRequest& x_request;
  std::shared_ptr<const NodeSetup> x_node;
  OutputMultiplexer x_out;
  /// Nothing if standard error is the same file as standard output: one stream keeps lines whole.
  std::optional<OutputMultiplexer> x_err;
  InputRelay x_input;
  unsigned x_world_reports = 0; ///< seen by `check_world_reports`
  bool x_worlds_reported = false;
};

} // namespace hpcml::launch
