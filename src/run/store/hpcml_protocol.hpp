// SPDX-License-Identifier: MIT
// The protocol of hpcml's processes with a store, in addition to the programs' messages. It uses values of
// keys that no program can see, set or list. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/store/message_fields.hpp"
#include "run/store/protocol.hpp"

namespace hpcml::store {

/// compare_set, with an announcement in place of the desired value: answered with a welcome, once rank 0 has
/// come.
inline constexpr std::string_view k_announce_key = "\x01hpcml/announce";
/// get: answered with sentences about who is missing.
inline constexpr std::string_view k_missing_key = "\x01hpcml/missing";
/// get: answered once every rank has announced itself, with nothing, or once one has failed, with a sentence.
inline constexpr std::string_view k_all_here_key = "\x01hpcml/all-here";
/// compare_set that expects k_not_ours: answered with a report; torch's own servers answer what is expected,
/// and keep nothing.
inline constexpr std::string_view k_show_key = "\x01hpcml/show";
inline constexpr std::string_view k_not_ours = "?";

/// True if the text can be a host's name or a numeric address, and nothing else.
bool is_host(std::string_view text);
/// True if the text is HOST:PORT.
bool is_place(std::string_view text);

/// What torch reads in TORCHELASTIC_USE_AGENT_STORE.
enum class AgentStoreUse : std::uint8_t {
  unset,   ///< rank 0's program serves
  allowed, ///< "1": rank 0's program tries to, and becomes a client
  always   ///< "True": every rank's program is a client
};

/// Where the programs of a step connect, as rank 0's launcher has decided it for all. These fields and no
/// others reach a rank's program.
struct MasterEndpoint {
  std::string address;    ///< MASTER_ADDR; empty: as each rank knows it
  std::uint16_t port = 0; ///< MASTER_PORT, of rank 0's program; 0: of the store that answers
  AgentStoreUse agent_store = AgentStoreUse::unset;
  std::string coordinator; ///< JAX_COORDINATOR_ADDRESS; empty: not set
  bool operator==(const MasterEndpoint&) const = default;
  static void fields(auto& list, auto& m) {
    list("address", m.address, or_empty(is_host));
    list("port", m.port, 65535);
    list("agent_store", m.agent_store, AgentStoreUse::always);
    list("coordinator", m.coordinator, or_empty(is_place));
  }
};

/// A rank's launcher, as it makes itself known.
struct JoinRequest {
  static constexpr std::string_view k_name = "announcement";
  std::string job;  ///< the same text for all processes of one job and for none of another
  std::string step; ///< and of one step
  unsigned rank = 0;
  unsigned world_size = 1;
  unsigned local_rank = 0;
  std::string host;
  std::int64_t pid = 0;
  std::string failed = {}; ///< why this rank's program will not start; empty: it will
  // Rank 0's:
  std::optional<MasterEndpoint> decision = {};
  std::vector<std::string> nodes = {};       ///< of the step, in the order of the tasks
  std::vector<unsigned> tasks_per_node = {}; ///< of each of them
  static void fields(auto& list, auto& m) {
    list("job", m.job);
    list("step", m.step);
    list("rank", m.rank);
    list("world_size", m.world_size);
    list("local_rank", m.local_rank);
    list("host", m.host, is_host);
    list("pid", m.pid, std::int64_t{1} << 32);
    list("failed", m.failed);
    list("decision", m.decision);
    list("nodes", m.nodes, is_host);
    list("tasks_per_node", m.tasks_per_node);
    list.require("rank", m.rank < m.world_size);
    list.require("tasks_per_node", m.nodes.size() == m.tasks_per_node.size());
  }
};

/// Why a store is not for a launcher.
enum class JoinError {
  none,  ///< it is
  job,   ///< another job's
  step,  ///< another step's of the job
  run,   ///< for the same step's ranks, as they were started once before
  size,  ///< for another number of ranks
  words, ///< the announcement is not valid, or one side is another version of hpcml
  key    ///< the launcher has no key, and the store requires one
};

/// What a launcher is answered.
struct JoinReply {
  static constexpr std::string_view k_name = "welcome";
  JoinError refusal = JoinError::none;
  std::string refused; ///< the same as a clause
  std::string failed;  ///< a sentence: why the step cannot begin; empty: it can
  MasterEndpoint decision;
  static void fields(auto& list, auto& m) {
    list("refusal", m.refusal, JoinError::key);
    list("refused", m.refused);
    list("failed", m.failed);
    list("decision", m.decision);
  }
};

/// What a launcher without a key is answered, by a store that has one.
JoinReply refuse_without_key();

} // namespace hpcml::store
