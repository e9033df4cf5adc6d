// SPDX-License-Identifier: MIT
// What agents and the conductor of a run say to each other: pure. It travels as values of keys at the store
// of the first node, where an agent sets events and gets orders.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/agent/failure_note.hpp"

namespace hpcml::agent {

/// compare_set, with a Hello in place of the desired value: answered with a Reply.
inline constexpr std::string_view k_register_key = "\x01hpcml/agent/hello";
/// set, with an Event; not answered.
inline constexpr std::string_view k_event_key = "\x01hpcml/agent/event";
/// get: answered with the next Order, once there is one.
inline constexpr std::string_view k_order_key = "\x01hpcml/agent/order";

/// An agent makes itself known.
struct RegisterRequest {
  std::string job;    ///< the same for all agents of a job, and for none of another
  std::string run_id; ///< and of a run
  std::string host;
  std::optional<unsigned> node_rank; ///< unset: in the order of coming
  unsigned processes = 1;            ///< ranks that it starts
  bool leads = false;                ///< it serves, and starts each attempt's store
};

/// The conductor's answer: nothing where the agent belongs here, else why not, as a clause.
struct RegisterReply {
  std::string refused;
  bool again = false; ///< it is another run's or job's: the agent is to look elsewhere
  std::string secret =
      {}; ///< of agents without a key: the one of their ranks' stores, as open as this answer
};

/// An event of an agent.
struct AgentEvent {
  enum class Kind {
    serving,   ///< the store of an attempt is at `place`
    failed,    ///< a rank: the first in the attempt on this node, or one that is to be named in its place
    ended,     ///< no rank of the attempt is left here; `good`: all ended well
    quiet,     ///< nothing has come of its ranks for the time that is allowed
    busy,      ///< something has come again
    looked,    ///< the stacks of its ranks are written
    leaving,   ///< it was asked to end by `signal`
    heartbeat, ///< it works; answered with an order of this kind
  };
  Kind kind = Kind::ended;
  unsigned attempt = 0;
  bool good = false;
  int signal = 0;
  std::string place;  ///< HOST:PORT; empty: the ranks need no rendezvous
  std::string stacks; ///< looked: where the ranks are, as pack_places says it
  failures::RankFailure failure = {};
};

/// The nodes that take part in an attempt, in the order of their node_rank.
struct NodeMember {
  std::string host;
  unsigned processes = 1;
  bool operator==(const NodeMember&) const = default;
};

/// What an agent is to do.
struct AgentCommand {
  enum class Kind {
    serve,     ///< a store for the attempt's ranks: the leader's
    start,     ///< the ranks of the attempt
    look,      ///< at what the ranks are at: write their stacks
    stop,      ///< the ranks: because of `failure`, or of `reason`
    name,      ///< report the failure for which the ranks were stopped
    end,       ///< with `code`
    heartbeat, ///< the coordinator works; nothing is to be done
    lost,      ///< this agent was treated as lost: kill its ranks before anything else, then end with `code`
  };
  Kind kind = Kind::end;
  unsigned attempt = 0;  ///< 0: the first
  unsigned restarts = 0; ///< of these, how many count against --max-restarts
  std::vector<NodeMember> world = {};
  unsigned node_rank = 0; ///< this agent's place in `world`
  std::string place = {}; ///< of the attempt's store
  std::optional<failures::RankFailure> failure = {};
  std::string reason = {};       ///< where no rank has failed: a clause, "the agent of node002 has gone"
  bool restarts_all = false;     ///< stop: all ranks are started again afterwards
  std::chrono::seconds pause{0}; ///< stop: between the end of the ranks and their restart
  int code = 0;
  bool is_reporter = false;             ///< this agent reports it
  std::vector<std::string> stacks = {}; ///< stop, of ranks that stalled: what each agent has seen
  std::vector<std::string> lost = {};   ///< to the leader: hosts whose agents have died in the last attempt
};

std::string pack_registration(const RegisterRequest& registration);
std::optional<RegisterRequest> unpack_registration(std::string_view bytes);
std::string pack_reply(const RegisterReply& reply);
std::optional<RegisterReply> unpack_reply(std::string_view bytes);
std::string pack_event(const AgentEvent& event);
std::optional<AgentEvent> unpack_event(std::string_view bytes);
std::string pack_order(const AgentCommand& order);
/// Nothing where these bytes are none; so the others.
std::optional<AgentCommand> unpack_order(std::string_view bytes);

} // namespace hpcml::agent
