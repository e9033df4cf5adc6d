// SPDX-License-Identifier: MIT
// Answers for this rank when another one is in trouble, and asks the others when this one is.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ddp/failure_cause.hpp"
#include "ddp/torch_compat.hpp"
#include "hpcml/ddp/error.hpp"

namespace hpcml::ddp {

/// The phase in which the ranks connect.
constexpr const char* k_rendezvous = "rendezvous";

/// One thread per group waits at the store, over its own connection, until it is called. Computing ranks can
/// thus answer, and only ended ones are silent. Nothing is queried without a failure.
class FailureDetector {
public:
  /// `store`: of this rank, for asking. `second`: for the thread. `prefix`: of the group's keys.
  /// `serves`: the store ends with this process.
  FailureDetector(std::shared_ptr<Store> store, std::shared_ptr<Store> second, std::string prefix,
                  const RankEnv& env, bool serves);
  ~FailureDetector();
  FailureDetector(const FailureDetector&) = delete;
  FailureDetector& operator=(const FailureDetector&) = delete;

  /// Returns when all ranks have come here; throws std::runtime_error when they do not in time.
  void connect_ranks(std::chrono::milliseconds timeout);
  /// This rank begins an operation.
  void begin(const Operation& operation);
  /// It waits for an operation that it has begun.
  void wait_for(const Operation& operation);
  /// Marks that the rank continues and does not wait any more.
  void end_wait();
  /// Some rank has called all to account.
  bool is_called() const { return x_called.load(std::memory_order_relaxed); }

  /// Calls all ranks to account and throws Error. `why`: what this rank saw; `own`: the failure is its own.
  [[noreturn]] void fail(const Operation& operation, const std::string& why, bool own);
  /// For a thread that looks after operations: the same, but the program's thread is to throw the Error, at
  /// its next operation.
  void attribute_failure(const Operation& operation, const std::string& why);
  /// What attribute_failure() found and fail() has not thrown; empty: nothing.
  std::string pending_error() const;

private:
  Error error_of(const Operation& operation, const std::string& why, bool own);
  RankReport report() const;
  void on_query();
  void answer();
  std::string kept_result() const;
  void end_with_the_others();
  void query_all_ranks();
  FailureCause ask_for_cause(const Operation& operation, const std::string& why, bool own);
  void linger_for_peers();
  std::string find_result(const std::string& phase, bool first);
  std::string key(const std::string& what, int rank) const;

  std::shared_ptr<Store> x_store, x_second;
  std::string x_prefix;
  int x_rank, x_size;
  bool x_serves;
  std::string x_master;
  std::atomic<bool> x_called{false}, x_ends{false}, x_answered{false}, x_stayed{false};
  mutable std::mutex x_mutex; // of what follows
  RankReport x_report;
  std::chrono::steady_clock::time_point x_since, x_call_time;
  std::string x_result;             ///< as received by the thread; empty: not yet
  mutable std::mutex x_error_mutex; // of what follows; held while the others are asked
  std::optional<Error> x_error;
  bool x_last_received = false;
  std::thread x_thread;
};

} // namespace hpcml::ddp
