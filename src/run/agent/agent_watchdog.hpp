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

/// When an agent that shows no heartbeat is reported and killed. Pure.
class SilenceTimer {
public:
  using Time = HeartbeatTimer::Time;
  enum class Action { none, report, kill };

  SilenceTimer(const HeartbeatOptions& options, Time now)
      : x_options(options), x_last_received(now), x_turn(now + turn()) {}

  void on_heartbeat(Time now) { x_last_received = now, x_expects = true, x_reported = false; }
  /// Expects nothing until the next heartbeat.
  void pause() { x_expects = false; }
  /// What is to be done now. After a pause of this process, which the agent may have shared, its time begins
  /// again. The report comes shortly before the coordinator treats the agent as lost, its end shortly after.
  Action on_turn(Time now);
  /// How long to wait until the next turn: short, so that a pause of this process shows.
  std::chrono::milliseconds turn() const {
    return std::min<std::chrono::milliseconds>(std::chrono::seconds(1), x_options.interval);
  }
  Time::duration silence(Time now) const { return now - x_last_received; }

private:
  HeartbeatOptions x_options;
  Time x_last_received, x_turn;
  bool x_expects = true, x_reported = false;
};

/// Returns what a process is doing, as the kernel shows it: "is stopped (do_signal_stop)", "sleeps in write
/// (pipe_write), file /tmp/log"; empty if it has ended.
std::string describe_process(pid_t pid, const std::string& proc = "/proc");

class AgentWatchdog {
public:
  /// Starts the process. It is a child of this one, stays in its process group, so that signals which stop
  /// the group also stop it, and ends with it.
  static util::Result<std::unique_ptr<AgentWatchdog>> start(const HeartbeatOptions& options,
                                                            const std::string& host);
  /// Ends it.
  ~AgentWatchdog();
  AgentWatchdog(const AgentWatchdog&) = delete;
  AgentWatchdog& operator=(const AgentWatchdog&) = delete;

  void on_heartbeat() { send('h'); }
  void pause() { send('p'); }
  pid_t pid() const { return x_child.pid(); }

private:
  AgentWatchdog(util::Child child, int line) : x_child(std::move(child)), x_line(line) {}
  void send(char word) const;

  util::Child x_child;
  int x_line; ///< it reads the other end
};

} // namespace hpcml::agent
