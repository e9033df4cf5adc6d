// SPDX-License-Identifier: MIT
// `hpcml-torch preflight`: proves that the ranks can talk, before a training depends on it.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "ddp/torch_compat.hpp"
#include "torch/helper/group_rendezvous.hpp"

namespace hpcml::helper {

using ddp::Communicator;
using ddp::GroupOptions;

/// The flags of `hpcml-torch preflight`.
struct PreflightOptions {
  GroupOptions group{"auto", "", std::chrono::seconds(30)}; ///< a check is not to wait as a training may
  long long bytes = 0;                   ///< of the tensors; 0: 4 MiB on CPUs, 64 MiB on GPUs
  bool store_only = false;               ///< stop after the rendezvous
  int program_port = 0;                  ///< port of the program's rendezvous; 0: the same as here
  std::chrono::milliseconds deadline{0}; ///< when the rank ends whatever it waits for; 0: watchdog_limit
};

/// Runs all phases as one rank; prints JSON lines. Returns k_ok, or k_preflight_failed when a phase failed.
int run_preflight(const PreflightOptions& options);

/// What a check measured. `seconds` is per operation; `gbps` in gigabits per second.
struct Measurement {
  double seconds = 0;
  double gbps = 0;
};

/// A check failed because of what this rank itself brought to it.
struct FaultyLocalInputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// all_reduce of a tensor whose sum is known element by element; throws std::runtime_error with the first
/// wrong element, FaultyLocalInputError if this rank's share was wrong before it was sent.
Measurement check_all_reduce(Communicator& group, long long bytes);
/// Each rank sends to seven others (all, in a world of eight) and receives from them what only that one
/// should get; the receiver compares every element. Throws as check_all_reduce.
Measurement check_send_receive(Communicator& group, long long bytes);

/// What two ranks found alone, seen from one of them; texts are empty where all is well.
struct PairCheckErrors {
  std::string input, sum, message;
};
/// Both checks in a group of two, with values that no other pair and no other `round` has. Throws
/// std::runtime_error where they cannot exchange.
PairCheckErrors check_pair(Communicator& pair, long long bytes, int round);

/// Searches the faulty rank after a phase with faults of unknown origin: all ranks are tested in pairs, whose
/// results identify it. Throws PhaseError on every rank, within about two timeouts.
[[noreturn]] void search_faulty_rank(PhaseBarrier& rendezvous, const RankEnv& env,
                                     const PreflightOptions& options, const std::string& phase,
                                     long long bytes);

/// MASTER_PORT is the program's; this proves, before the program starts, that rank 0 can listen there and
/// that all reach it. Throws PhaseError.
void check_program_port(PhaseBarrier& rendezvous, const RankEnv& env, int port,
                        std::chrono::milliseconds timeout);

} // namespace hpcml::helper
