// SPDX-License-Identifier: MIT
// The ranks of a node as child processes: each has a process group and pipes, and is killed if launch dies.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/failures/rank_failure.hpp"
#include "run/launch/orphan_reaper.hpp"

namespace hpcml::launch {

/// A started rank. Its descriptors are the reading ends of its output, which the reader owns.
struct RankProcess {
  unsigned rank = 0;
  unsigned local_rank = 0;
  pid_t pid = -1; ///< and its process group
  int out = -1;
  int err = -1;
  bool running = true;
  bool lingers = false; ///< it has ended, others of its group have not, and they are waited for
  int status = 0;       ///< as waitpid gives it
  std::chrono::steady_clock::time_point end{};
};

/// All ranks of this node and what they have started.
class RankProcessGroups {
public:
  RankProcessGroups(System& system, std::size_t count);
  ~RankProcessGroups();
  RankProcessGroups(const RankProcessGroups&) = delete;
  RankProcessGroups& operator=(const RankProcessGroups&) = delete;
  OrphanReaper& guard() { return x_guard; }
  /// A child of this process that `kill_children` leaves alone.
  void spare(pid_t child) { x_spared.push_back(child); }
  /// How a child that is to be spared has ended, if it has: then it is waited for, and its number is free.
  std::optional<int> ended_spared(pid_t child) const;
  void add(const RankProcess& process);
  std::vector<RankProcess>& ranks() { return x_ranks; }
  const std::vector<RankProcess>& ranks() const { return x_ranks; }
  /// True while a rank runs, or others of the group of one that has ended are waited for.
  bool any_left() const { return x_left > 0; }
  bool any_running() const { return !x_by_pid.empty(); }
  /// Sends a signal to every process of every group that is left.
  void signal(int number) const;
  /// Reaps every child that has exited. Returns the ranks among them, in the order of the kernel.
  std::vector<std::size_t> reap();
  /// Waits from now on for the rest of the group of a rank that has ended; false if there is none.
  bool wait_for_group(std::size_t index);
  /// The ranks whose group is not waited for any more, since it has ended.
  std::vector<std::size_t> take_ended_groups();
  /// Kills all children of this process, known or not, and their descendants, except its guard and the
  /// spared. Waits for their exit until none has exited for `limit`.
  void kill_children(std::chrono::steady_clock::duration limit);
  /// Waits for no group any more; the ranks that this concerns.
  std::vector<std::size_t> give_up();

private:
  void stop_waiting(std::size_t index);
  std::vector<pid_t> children() const;
  System& x_system;
  int x_spare; ///< held from the beginning for /proc: there may be no descriptor left later
  std::vector<RankProcess> x_ranks;
  std::unordered_map<pid_t, std::size_t> x_by_pid;
  std::size_t x_left = 0, x_lingering = 0;
  std::vector<pid_t> x_spared;
  std::vector<std::pair<pid_t, int>> x_ended_spared; ///< with what waitpid has given
  OrphanReaper x_guard;
};

/// Returns what the process of a rank that failed shows of it; `start`: when the ranks were started.
failures::RankFailure failure_of(const RankProcess& process, const std::string& host,
                                 std::chrono::steady_clock::time_point start);

} // namespace hpcml::launch
