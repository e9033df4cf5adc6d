// SPDX-License-Identifier: MIT
// Starts the ranks of a node and stays with them: output, signals, failures. One thread, one poll loop, no
// sleeping.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <vector>

#include "launch/output_lines.hpp"
#include "launch/output_queue.hpp"
#include "launch/rank_process.hpp"

namespace hpcml::launch {

/// The ranks of one node, from their start to their end.
class Supervisor {
public:
  Supervisor(const LaunchRequest& request, const Surroundings& here, const std::vector<unsigned>& ranks);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Starts every rank, waits for all of them, and returns 0 or the code of the rank that failed first.
  int run(std::vector<RankSetup>& setups);

private:
  using Clock = std::chrono::steady_clock;

  util::Status start(std::vector<RankSetup>& setups);
  void wait_once();
  int wait_milliseconds() const;
  void read_output(std::size_t index, bool error_stream);
  void flush_idle();
  void take_signals();
  void reap();
  void reap_one(RankProcess& process);
  void stop_others(const RankProcess& failed);
  void take_request_to_end(int signal);
  void kill_all();
  void kill_when_due();
  void relay_input();
  void finish();
  std::string describe_failure() const;
  bool any_running() const;

  const LaunchRequest& x_request;
  const Surroundings& x_here;
  std::vector<RankProcess> x_processes;
  LineMerger x_out_lines, x_err_lines;
  OutputQueue x_out{1}, x_err{2};
  sigset_t x_old_mask{};
  int x_signals = -1;
  int x_input = -1;            ///< writing end of rank 0's input where ours is a terminal
  int x_received = 0;          ///< the last signal that was passed on
  int x_ending = 0;            ///< INT or TERM: the ranks have been asked to end
  bool x_killed = false;       ///< and were killed, since they did not
  Clock::time_point x_asked{}; ///< when x_ending came
  std::optional<std::size_t> x_failed;
  std::optional<Clock::time_point> x_kill_at;
  std::optional<Clock::time_point> x_flush_at;
  Clock::time_point x_start = Clock::now();
};

} // namespace hpcml::launch
