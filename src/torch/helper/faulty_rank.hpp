// SPDX-License-Identifier: MIT
// Whose fault it is, from what pairs of ranks saw of each other; and where that cannot be known. Pure.
#pragma once

#include <string>
#include <vector>

namespace hpcml::helper {

/// What one rank saw when it was alone with one other.
struct PairFaultReport {
  int by = 0;
  int peer = 0;
  bool input = false;   ///< its own tensor was wrong before anything was sent
  bool sum = false;     ///< the sum over the two was wrong
  bool message = false; ///< what `peer` sent to it was wrong
  bool broken = false;  ///< they could not exchange at all, or its report arrived altered
  std::string text;     ///< the first fault as text; empty: none

  bool any() const { return input || sum || message || broken; }
};

/// All that is known after a failure.
struct FailureEvidence {
  std::vector<std::string> hosts; ///< by rank: all ranks of the world
  std::vector<PairFaultReport> seen;
  std::vector<int> absent; ///< ranks that did not take part in the search
};

/// The ranks at fault, or the reason why they cannot be determined.
struct FaultAttribution {
  std::vector<int> faulty; ///< empty: not determined
  std::string
      how; ///< their fault (after their names), or why none was determined (the second half of a sentence)
  std::string next;

  bool certain() const { return !faulty.empty(); }
};

/// Returns the faulty ranks: those that report that their own tensor is wrong. Otherwise the smallest set of
/// ranks (or, without one, of hosts) that is part of every failed pair, if it is the only such set and each
/// of them failed with at least two partners and with most of them. Otherwise ranks that do not
/// respond.
FaultAttribution attribute_fault(const FailureEvidence& evidence);

/// "rank 3", "ranks 4, 5"; more than eight are counted.
std::string list_ranks(const std::vector<int>& ranks);

} // namespace hpcml::helper
