// SPDX-License-Identifier: MIT
// The reports of the ranks after a failure, and the cause that follows from them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hpcml::ddp {

constexpr int k_all_ranks = -1;
constexpr const char* k_send = "send";
constexpr const char* k_recv = "recv";

/// What a rank begins and waits for: an operation of all ranks, or an exchange with one of them.
struct Operation {
  std::string name;       ///< "all_reduce", "send", "recv"
  int peer = k_all_ranks; ///< of an exchange: the other rank
  int tag = 0;            ///< of an exchange

  bool is_exchange() const { return peer != k_all_ranks; }
};

/// "all_reduce", "send to rank 1 (tag 0)".
std::string text_of(const Operation& operation);

/// What a rank says of itself.
struct RankReport {
  enum class State {
    computing, ///< lives, and is in no operation
    waiting,   ///< in an operation
    failed,    ///< threw: `why` says what
    left,      ///< ended its group
  };
  State state = State::computing;
  std::int64_t operations = 0; ///< of all ranks, begun so far
  double seconds = 0;          ///< since it is in this state
  std::string operation;       ///< the last one of them
  std::string why;
  Operation exchange; ///< what it waits for where that is one
};

/// One line, without a line break.
std::string pack(const RankReport& report);
/// Nothing if it is not such a line.
std::optional<RankReport> unpack_report(const std::string& line);

/// The ranks at fault, and a clause for the message: "rank 3 (nid002) is gone".
struct FailureCause {
  std::vector<int> ranks; ///< ascending; empty: no rank is at fault
  std::string clause;
};

/// Finds the cause before the ranks are connected: ranks without a report have not started; otherwise like
/// find_cause.
FailureCause find_missing_ranks(const std::vector<std::optional<RankReport>>& reports,
                                const std::vector<std::string>& hosts);

/// `reports`: by rank, nothing for one that did not answer. `hosts`: by rank, empty where not known.
FailureCause find_cause(const std::vector<std::optional<RankReport>>& reports,
                        const std::vector<std::string>& hosts);

} // namespace hpcml::ddp
