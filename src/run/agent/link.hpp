// SPDX-License-Identifier: MIT
// The connection of an agent to the coordinator of its run, in this process or on another node.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/util/result.hpp"
#include "run/agent/agent_liveness_watchdog.hpp"
#include "run/agent/agent_protocol.hpp"
#include "run/agent/coordinator.hpp"
#include "run/store/store_search.hpp"

namespace hpcml::agent {

class CoordinatorConnection {
public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~CoordinatorConnection() = default;
  virtual void send_event(const AgentEvent& event) = 0;
  /// Returns the next command, if there is one.
  virtual std::optional<AgentCommand> take() = 0;
  /// Returns the descriptor to poll for reading, and for writing if `has_output`; -1: none.
  virtual int fd() const = 0;
  virtual bool has_output() const = 0;
  /// Returns when to call `take` without data.
  virtual std::optional<Time> due() const = 0;
  /// Sends a heartbeat if one is due; `take` also does so. Returns when to call it again; nothing: never.
  virtual std::optional<Time> keep_alive() { return std::nullopt; }
  /// True if this agent was paused until the coordinator must have treated it as lost: the other nodes may
  /// have started again without its ranks.
  virtual bool was_away() const { return false; }
  /// Shows this process to its watchdog by each heartbeat.
  virtual void set_watchdog(AgentLivenessWatchdog*) {}
  /// This process works at something that takes long: its watchdog expects nothing until the next heartbeat.
  virtual void announce_wait() {}
  /// Returns why the connection was lost; empty while it exists.
  virtual std::string fault() const = 0;
  /// "ADDRESS:PORT" of the other end; empty: it is in this process.
  virtual std::string place() const = 0;
  /// The key that the other end gives to agents without one; empty: they have one.
  virtual std::string open_secret() const { return {}; }
};

/// Creates a connection to a coordinator in this process, for a run of one node.
std::unique_ptr<CoordinatorConnection> make_own_link(const CoordinatorOptions& rules,
                                                     const RegisterRequest& registration);

/// Options of the search for the coordinator.
struct CoordinatorSearchOptions {
  std::vector<store::StoreAddress> places;
  std::optional<store::SecretKey> key = {}; ///< that both sides prove; none: any coordinator is accepted
  std::chrono::seconds join_timeout{600};
  std::chrono::seconds answer{0}; ///< minimum wait for the answer of an open connection
  bool own = false;               ///< it is a child of this process
  HeartbeatOptions heartbeat = {};
  std::string name = {};         ///< of its node, for messages; empty: only the address is known
  std::function<bool()> is_over; ///< polled: true ends the search
  std::function<void(std::chrono::seconds, const std::string&)> slow; ///< called at times with the last error
};

/// Why the search for the coordinator failed.
struct CoordinatorSearchError {
  util::Error error;
  bool refused = false; ///< the run's coordinator rejected the agent, or the search was ended
};

/// Connects to the coordinator of the run that `registration` names.
std::variant<std::unique_ptr<CoordinatorConnection>, CoordinatorSearchError>
find_coordinator(const RegisterRequest& registration, const CoordinatorSearchOptions& search);

} // namespace hpcml::agent
