// SPDX-License-Identifier: MIT
// Messages between the agents of a run and its coordinator: pure. They travel as values of keys at the store
// of the first node, where an agent sends events and gets commands. store/message_fields.hpp explains the
// lists of fields; a new kind of event or command is a struct with such a list, in its variant.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/failures/rank_failure.hpp"
#include "run/agent/restart_backoff.hpp"
#include "run/agent/stacks.hpp"
#include "run/store/hpcml_protocol.hpp"
#include "run/store/message_fields.hpp"

namespace hpcml::agent {

/// compare_set, with a RegisterRequest in place of the desired value: answered with a RegisterReply.
inline constexpr std::string_view k_register_key = "\x01hpcml/agent/hello";
/// set, with an AgentEvent; not answered.
inline constexpr std::string_view k_event_key = "\x01hpcml/agent/event";
/// get: answered with the next AgentCommand, once there is one.
inline constexpr std::string_view k_order_key = "\x01hpcml/agent/order";

/// An agent makes itself known.
struct RegisterRequest {
  static constexpr std::string_view k_name = "agent registration";
  std::string job;    ///< the same for all agents of a job, and for none of another
  std::string run_id; ///< and of a run
  std::string host;
  std::optional<unsigned> node_rank; ///< unset: in the order of coming
  unsigned processes = 1;            ///< ranks that it starts
  bool leads = false;                ///< it serves, and starts each attempt's store
  static void fields(auto& list, auto& m) {
    list("job", m.job);
    list("run_id", m.run_id);
    list("host", m.host, store::is_host);
    list("node_rank", m.node_rank);
    list("processes", m.processes);
    list("leads", m.leads);
    list.require("processes", m.processes > 0);
  }
};

/// The coordinator's answer: nothing if the agent belongs here, else why not, as a clause.
struct RegisterReply {
  static constexpr std::string_view k_name = "agent reply";
  std::string refused;
  bool again = false; ///< it is another run's or job's: the agent is to look elsewhere
  std::string secret =
      {}; ///< of agents without a key: the one of their ranks' stores, as open as this answer
  static void fields(auto& list, auto& m) {
    list("refused", m.refused);
    list("again", m.again);
    list("secret", m.secret);
  }
};

/// It works. The coordinator answers with the same.
struct Heartbeat {
  static constexpr std::string_view k_name = "heartbeat";
  static void fields(auto&, auto&) {}
};

/// The store of an attempt is ready.
struct ServingEvent {
  static constexpr std::string_view k_name = "serving";
  std::string place = {}; ///< HOST:PORT; empty: the ranks need no rendezvous
  static void fields(auto& list, auto& m) { list("place", m.place, store::or_empty(store::is_place)); }
};

/// A rank failed: the first in the attempt on this node, or one that is to be reported in its place.
struct FailedEvent {
  static constexpr std::string_view k_name = "failed";
  failures::RankFailure failure = {};
  static void fields(auto& list, auto& m) { list("failure", m.failure); }
};

/// No rank of the attempt is left on this node.
struct EndedEvent {
  static constexpr std::string_view k_name = "ended";
  bool good = false; ///< all exited with 0
  static void fields(auto& list, auto& m) { list("good", m.good); }
};

/// Its ranks have written nothing for the time that is allowed, or write again.
struct QuietEvent {
  static constexpr std::string_view k_name = "quiet";
  bool is_quiet = true;
  bool operator==(const QuietEvent&) const = default;
  static void fields(auto& list, auto& m) { list("is_quiet", m.is_quiet); }
};

/// The stacks of its ranks are written.
struct StacksEvent {
  static constexpr std::string_view k_name = "stacks";
  std::vector<MainThreadStack> stacks = {};
  static void fields(auto& list, auto& m) { list("stacks", m.stacks); }
};

/// It was asked to end by a signal.
struct LeavingEvent {
  static constexpr std::string_view k_name = "leaving";
  int signal = 0;
  static void fields(auto& list, auto& m) { list("signal", m.signal, 64); }
};

/// An event of an agent.
struct AgentEvent {
  static constexpr std::string_view k_name = "agent event";
  unsigned attempt = 0;
  std::variant<Heartbeat, ServingEvent, FailedEvent, EndedEvent, QuietEvent, StacksEvent, LeavingEvent> what;
  static void fields(auto& list, auto& m) {
    list("attempt", m.attempt);
    list("what", m.what);
  }
};

/// The nodes that take part in an attempt, in the order of their node_rank.
struct NodeMember {
  std::string host;
  unsigned processes = 1;
  bool operator==(const NodeMember&) const = default;
  static void fields(auto& list, auto& m) {
    list("host", m.host);
    list("processes", m.processes);
  }
};

/// An attempt as one of its nodes prepares it.
struct AttemptSetup {
  unsigned attempt = 0;  ///< 0: the first
  unsigned restarts = 0; ///< of these, how many count against --max-restarts
  std::vector<NodeMember> world = {};
  unsigned node_rank = 0; ///< this agent's place in `world`
  static void fields(auto& list, auto& m) {
    list("attempt", m.attempt);
    list("restarts", m.restarts);
    list("world", m.world);
    list("node_rank", m.node_rank);
    list.require("node_rank", m.node_rank < m.world.size());
  }
};

/// The leader is to serve a store for the attempt's ranks.
struct ServeCommand : AttemptSetup {
  static constexpr std::string_view k_name = "serve";
  std::vector<std::string> lost = {}; ///< hosts whose agents have died in the last attempt
  static void fields(auto& list, auto& m) {
    AttemptSetup::fields(list, m);
    list("lost", m.lost);
  }
};

/// The agent is to start the ranks of the attempt.
struct StartCommand : AttemptSetup {
  static constexpr std::string_view k_name = "start";
  std::string place = {}; ///< of the attempt's store
  static void fields(auto& list, auto& m) {
    AttemptSetup::fields(list, m);
    list("place", m.place);
  }
};

/// The agent is to write the stacks of its ranks.
struct ReadStacksCommand {
  static constexpr std::string_view k_name = "read stacks";
  std::string reason = {};
  static void fields(auto& list, auto& m) { list("reason", m.reason); }
};

/// Why all ranks are stopped, or the run ends.
struct StopReason {
  std::optional<failures::RankFailure> failure = {};
  std::string reason = {};  ///< if no rank has failed: a clause, "the agent of node002 has gone"
  int code = 0;             ///< of the run, if it ends
  bool is_reporter = false; ///< this agent reports it
  static void fields(auto& list, auto& m) {
    list("failure", m.failure);
    list("reason", m.reason);
    list("code", m.code, 255);
    list("is_reporter", m.is_reporter);
  }
};

/// Why all ranks are stopped, and what follows.
struct StopReport : StopReason {
  bool restarts_all = false;                             ///< all ranks are started again afterwards
  unsigned restarts = 0;                                 ///< so far, with this one
  std::chrono::seconds pause{0};                         ///< between the end of the ranks and their restart
  std::vector<std::vector<MainThreadStack>> stacks = {}; ///< of ranks that stalled: what each agent has seen
  static void fields(auto& list, auto& m) {
    StopReason::fields(list, m);
    list("restarts_all", m.restarts_all);
    list("restarts", m.restarts);
    list("pause", m.pause, RestartBackoff::k_longest_pause);
    list("stacks", m.stacks);
  }
};

/// The agent is to stop its ranks.
struct StopCommand : StopReport {
  static constexpr std::string_view k_name = "stop";
  unsigned attempt = 0;
  static void fields(auto& list, auto& m) {
    StopReport::fields(list, m);
    list("attempt", m.attempt);
  }
};

/// The agent is to report the failure for which the ranks were stopped.
struct ReportCommand : StopReport {
  static constexpr std::string_view k_name = "report";
};

/// The run has ended.
struct EndCommand : StopReason {
  static constexpr std::string_view k_name = "end";
  std::vector<std::string> lost = {}; ///< to the leader: hosts whose agents have died in the last attempt
  static void fields(auto& list, auto& m) {
    StopReason::fields(list, m);
    list("lost", m.lost);
  }
};

/// This agent was treated as lost: it is to kill its ranks before anything else, and to end.
struct LostCommand : StopReason {
  static constexpr std::string_view k_name = "lost";
};

/// What an agent is to do.
struct AgentCommand {
  static constexpr std::string_view k_name = "agent command";
  std::variant<Heartbeat, ServeCommand, StartCommand, ReadStacksCommand, StopCommand, ReportCommand,
               EndCommand, LostCommand>
      what;
  static void fields(auto& list, auto& m) { list("what", m.what); }
};

} // namespace hpcml::agent
