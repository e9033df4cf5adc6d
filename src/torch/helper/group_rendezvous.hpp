// SPDX-License-Identifier: MIT
// The ranks connect to the store before they depend on each other, so that missing ranks are known by number
// within a limit.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ddp/network.hpp"
#include "ddp/torch_compat.hpp"
#include "hpcml/rank_env.hpp"

namespace hpcml::helper {

using ddp::Communicator;
using ddp::GroupOptions;
using ddp::host_name;
using ddp::Store;

/// The ranks at fault, the phase, and what to do.
struct PhaseFailure {
  std::string phase;              ///< "rendezvous", "all_reduce", "send_recv"
  std::vector<int> ranks;         ///< empty: the phase failed, but the rank at fault is unknown
  std::vector<std::string> hosts; ///< one per rank; empty text where the host is not known
  std::string what;
  std::string next;
  bool is_reported = false; ///< rank 0 reported it, so that this rank need not repeat it
};

/// A failed phase; `what()` is a sentence that names the ranks.
class PhaseError : public std::runtime_error {
public:
  explicit PhaseError(PhaseFailure faulty_rank)
      : std::runtime_error(faulty_rank.what), x_faulty_rank(std::move(faulty_rank)) {}
  const PhaseFailure& faulty_rank() const { return x_faulty_rank; }

private:
  PhaseFailure x_faulty_rank;
};

/// How a phase ended that this rank went through.
enum class PhaseOutcome {
  well,
  unexplained ///< some saw faults, and all still answer: those who see a fault need not be at fault
};

/// Why this rank did not end a phase well.
struct LocalPhaseResult {
  std::string what; ///< empty: it did
  bool own = false; ///< the fault is in this rank, whatever the others observe
};

/// A rendezvous of all ranks. Every call takes at most the timeout plus a few seconds for the agreement of
/// the ranks.
class PhaseBarrier {
public:
  /// Opens the store, reports this rank, and returns when all ranks have done so. Throws PhaseError with the
  /// missing ranks (all ranks that did arrive throw the same).
  PhaseBarrier(const RankEnv& env, std::chrono::milliseconds timeout);

  Store& store() { return x_store; }
  const std::vector<std::string>& hosts() const { return x_hosts; } ///< by rank; filled on rank 0 only

  /// Rank 0: how long it waits for the others' reports after it saw a fault itself. With Gloo they see it at
  /// once (4 s, unless this is called); with NCCL a rank may be stuck until its own time limit, and would be
  /// taken for dead before that.
  void set_peer_timeout(std::chrono::milliseconds limit) { x_peer_timeout = limit; }
  /// This rank begins the phase.
  void enter(const std::string& phase);
  /// This rank ended the phase. Returns when all have, the same on every rank; throws PhaseError, on every
  /// rank, if it is known who is at fault.
  PhaseOutcome conclude(const std::string& phase, const LocalPhaseResult& result);
  PhaseOutcome conclude(const std::string& phase, const std::string& error) {
    return conclude(phase, LocalPhaseResult{error, false});
  }
  /// Returns the reported error of a phase that ended without a faulty rank, on rank 0; else empty.
  const std::string& reason() const { return x_reason; }
  /// Hands a text to rank 0, before this rank concludes the phase.
  void note(const std::string& phase, const std::string& text);
  /// Rank 0, after a phase that ended well: what the ranks noted in it, by rank.
  std::vector<std::string> notes(const std::string& phase);
  /// Rank 0: what the ranks noted, waiting no longer than `limit`; by rank, nothing for those that did not.
  /// Of several `members` it waits for these only; none named: for all.
  std::vector<std::optional<std::string>> collect(const std::string& phase, std::chrono::milliseconds limit,
                                                  const std::vector<int>& members = {});
  /// Sends what to do from rank 0 to all other ranks.
  void publish_result(const std::string& matter, const std::string& text);
  std::string wait_for_result(const std::string& matter, std::chrono::milliseconds limit);
  /// The end of a failed phase, on every rank: rank 0 says what was found, and all throw it.
  [[noreturn]] void fail(const std::string& phase, const std::optional<PhaseFailure>& found,
                         std::chrono::milliseconds limit);
  /// The last call: rank 0 stays until the others need its store no more.
  void finish();

private:
  std::string key(const std::string& phase, const std::string& what, int rank) const;
  /// Stores one text of this rank. Throws a PhaseError that names rank 0 if the store is gone; `before` is
  /// what went wrong earlier.
  void write(const std::string& phase, const std::string& what, const std::string& text,
             const std::string& before = {});
  template <class Ready> bool wait_for_all(const Ready& ready, std::chrono::milliseconds limit);
  bool wait_for_reports(const std::string& phase, std::chrono::milliseconds limit);
  std::optional<PhaseFailure> find_faulty_rank(const std::string& phase);
  PhaseOutcome wait_for_outcome(const std::string& phase, std::chrono::milliseconds limit);
  std::string probable_host(int rank) const;
  /// Of rank 0; where it is not known yet, the address by which it is reached.
  const std::string& first_host() const { return x_first_host.empty() ? x_env.master_addr : x_first_host; }

  RankEnv x_env;
  std::chrono::milliseconds x_timeout;
  std::chrono::steady_clock::time_point x_deadline; ///< for arriving
  std::chrono::milliseconds x_peer_timeout{4000};
  Store x_store;
  std::vector<std::string> x_hosts;
  std::string x_first_host;
  std::string x_reason;
};

/// The phase as users know it: arriving and connecting are one.
std::string public_phase(const std::string& phase);
/// "rank 3 (nid002)", "ranks 4, 5 (nid001, nid002)".
std::string list_ranks_and_hosts(const std::vector<int>& ranks, const std::vector<std::string>& hosts);

} // namespace hpcml::helper
