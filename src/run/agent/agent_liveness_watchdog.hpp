// SPDX-License-Identifier: MIT
// A process next to an agent that ends it if it stops working: stopped by a signal, or blocked in a file
// system. The other nodes treat such an agent as lost; without its end its ranks would run on, and srun would
// wait for its task.
#pragma once

#include <memory>
#include <string>
#include <sys/types.h>

#include "core/util/child.hpp"
#include "core/util/result.hpp"
#include "run/agent/heartbeat.hpp"

namespace hpcml::agent {

/// Returns what a process is doing, as the kernel shows it: "is stopped (do_signal_stop)", "sleeps in write
/// (pipe_write), file /tmp/log"; empty if it has ended.
std::string describe_process(pid_t pid, const std::string& proc = "/proc");

class AgentLivenessWatchdog {
public:
  /// Starts the process. It is a child of this one, stays in its process group, so that signals which stop
  /// the group also stop it, and ends with it.
  static util::Result<std::unique_ptr<AgentLivenessWatchdog>> start(const HeartbeatOptions& options,
                                                                    const std::string& host);
  /// Ends it.
  ~AgentLivenessWatchdog();
  AgentLivenessWatchdog(const AgentLivenessWatchdog&) = delete;
  AgentLivenessWatchdog& operator=(const AgentLivenessWatchdog&) = delete;

  void on_heartbeat() { send('h'); }
  void pause() { send('p'); }
  pid_t pid() const { return x_child.pid(); }

private:
  AgentLivenessWatchdog(util::ChildProcess child, int line) : x_child(std::move(child)), x_line(line) {}
  void send(char word) const;

  util::ChildProcess x_child;
  int x_line; ///< it reads the other end
};

} // namespace hpcml::agent
