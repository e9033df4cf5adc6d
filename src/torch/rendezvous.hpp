// SPDX-License-Identifier: MIT
// The ranks meet at the store before they depend on each other: who is missing is known by number, with a
// deadline.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hpcml/rank_env.hpp"
#include "torch/torch_compat.hpp"

namespace hpcml::helper {

/// Who stands in the way, in which phase, and what to do.
struct Culprit {
  std::string phase; ///< "rendezvous", "all_reduce", "send_recv"
  std::vector<int> ranks;
  std::vector<std::string> hosts; ///< one per rank; empty text where the host is not known
  std::string what;
  std::string next;
};

/// A failed phase; `what()` is a sentence that names the ranks.
class PhaseError : public std::runtime_error {
public:
  explicit PhaseError(Culprit culprit) : std::runtime_error(culprit.what), x_culprit(std::move(culprit)) {}
  const Culprit& culprit() const { return x_culprit; }

private:
  Culprit x_culprit;
};

/// One meeting of all ranks. Every call is bounded by the timeout plus a few seconds in which the ranks agree
/// on the outcome.
class Meeting {
public:
  /// Opens the store, reports this rank, and returns when all ranks have done so. Throws PhaseError with the
  /// missing ranks (all ranks that did arrive throw the same).
  Meeting(const RankEnv& env, std::chrono::milliseconds timeout);

  Store& store() { return x_store; }
  const std::vector<std::string>& hosts() const { return x_hosts; } ///< by rank; filled on rank 0 only

  /// This rank begins the phase.
  void enter(const std::string& phase);
  /// This rank ended the phase (`error` empty: well). Returns when all have; throws PhaseError, on every
  /// rank, if one did not end it well.
  void conclude(const std::string& phase, const std::string& error);
  /// Hands a text to rank 0, before this rank concludes the phase.
  void note(const std::string& phase, const std::string& text);
  /// Rank 0, after a phase that ended well: what the ranks noted in it, by rank.
  std::vector<std::string> notes(const std::string& phase);
  /// The last call: rank 0 stays until the others need its store no more.
  void finish();

private:
  std::string key(const std::string& phase, const std::string& what, int rank) const;
  bool wait_for_reports(const std::string& phase, std::chrono::milliseconds limit);
  std::optional<Culprit> find_culprit(const std::string& phase);
  void publish(const std::string& phase, const std::optional<Culprit>& culprit);
  void heed_verdict(const std::string& phase, std::chrono::milliseconds limit);
  std::string probable_host(int rank) const;

  RankEnv x_env;
  std::chrono::milliseconds x_timeout;
  std::chrono::steady_clock::time_point x_deadline; ///< for arriving
  Store x_store;
  std::vector<std::string> x_hosts;
};

} // namespace hpcml::helper
