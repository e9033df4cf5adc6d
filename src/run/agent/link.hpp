// SPDX-License-Identifier: MIT
// An agent's line to the conductor of its run: the same words, whether that is in this process or on another
// node.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/util/result.hpp"
#include "run/agent/agent_protocol.hpp"
#include "run/agent/agent_watchdog.hpp"
#include "run/agent/coordinator.hpp"
#include "run/store/store_search.hpp"

namespace hpcml::agent {

class CoordinatorConnection {
public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~CoordinatorConnection() = default;
  virtual void send_event(const AgentEvent& event) = 0;
  /// The next order, where one has come.
  virtual std::optional<AgentCommand> take() = 0;
  /// What to poll, for reading and where `has_output` for writing; -1: nothing.
  virtual int fd() const = 0;
  virtual bool has_output() const = 0;
  /// When `take` is to be called though nothing can be read.
  virtual std::optional<Time> due() const = 0;
  /// Sends a heartbeat if one is due; `take` also does so. Returns when to call it again; nothing: never.
  virtual std::optional<Time> keep_alive() { return std::nullopt; }
  /// True if this agent was paused until the coordinator must have treated it as lost: the other nodes may
  /// have started again without its ranks.
  virtual bool was_away() const { return false; }
  /// Shows this process to its watchdog by each heartbeat.
  virtual void set_watchdog(AgentWatchdog*) {}
  /// This process works at something that takes long: its watchdog expects nothing until the next heartbeat.
  virtual void announce_wait() {}
  /// Why there is no line any more; empty while there is.
  virtual std::string fault() const = 0;
  /// "ADDRESS:PORT" of the other end; empty: it is in this process.
  virtual std::string place() const = 0;
  /// The key that the other end gives to agents without one; empty: they have one.
  virtual std::string open_secret() const { return {}; }
};

/// To a conductor of its own: the run has one node.
std::unique_ptr<CoordinatorConnection> make_own_link(const CoordinatorOptions& rules,
                                                     const RegisterRequest& registration);

/// Where a conductor may be, and how long it is looked for.
struct CoordinatorSearch {
  std::vector<store::StoreAddress> places;
  std::optional<store::SecretKey> key = {}; ///< that both sides prove; none: any conductor is believed
  std::chrono::seconds join_timeout{600};
  std::chrono::seconds answer{
      0};           ///< where a line stands already its answer is waited for so long in any case
  bool own = false; ///< it is a child of this process
  HeartbeatOptions heartbeat = {};
  std::string name = {};         ///< of the node where it is, for people; empty: only the address is known
  std::function<bool()> is_over; ///< asked now and then: nobody wants it any more
  std::function<void(std::chrono::seconds, const std::string&)>
      slow; ///< called now and then with what is known
};

/// Why no conductor takes this agent.
struct CoordinatorError {
  util::Error error;
  bool refused = false; ///< the run's own has said so, or nobody wants one: looking on is of no use
};

/// To the conductor of the run that `registration` names, once it is found.
std::variant<std::unique_ptr<CoordinatorConnection>, CoordinatorError>
find_coordinator(const RegisterRequest& registration, const CoordinatorSearch& search);

} // namespace hpcml::agent
