// SPDX-License-Identifier: MIT
// The body of a job's script, as a child of the batch process: its environment, its end, and the files that
// it puts on the nodes' own disks.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::batch {

class JobScript {
public:
  using Clock = std::chrono::steady_clock;

  void set_environment(util::EnvSnapshot env) { x_env = std::move(env); }
  void set(const std::string& name, const std::string& value) { x_env.set(name, value); }
  const util::EnvSnapshot& env() const { return x_env; }

  /// `has_node_files`: it may put files on the nodes' own disks; `bad_nodes`: lines in the file of bad nodes.
  util::Status start(const std::vector<std::string>& command, bool has_node_files, std::size_t bad_nodes);
  /// The number of lines in the file of bad nodes at its start.
  std::size_t bad_nodes() const { return x_bad_nodes; }
  /// The main shell; 0: it does not run.
  pid_t pid() const { return x_pid; }
  void signal(int number) const;
  /// Ends its shells, which run their EXIT traps, and kills it after 20 s.
  void end();
  /// True if it is to be killed at a time.
  bool is_ending() const { return x_kill_at.has_value(); }
  void kill_if_due(Clock::time_point now);
  /// Returns its exit code once it has ended.
  std::optional<int> take_exit_code();
  /// Removes its files on the nodes' own disks, unless it or a step may still read them.
  void remove_node_files(const std::string& node_launcher);

private:
  util::EnvSnapshot x_env;
  pid_t x_pid = 0;
  std::optional<Clock::time_point> x_kill_at;
  bool x_has_node_files = false;
  std::size_t x_bad_nodes = 0;
};

} // namespace hpcml::batch
