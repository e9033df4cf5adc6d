// SPDX-License-Identifier: MIT
// Starts the ranks of a node from a process that holds none of their pipes: a rank forked by launch itself
// would copy, and close, those of all ranks before it.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "run/launch/launch_context.hpp"
#include "run/launch/rank_process.hpp"
#include "run/resolve/rank_setup.hpp"
#include "run/store/shared_store_activity.hpp"

namespace hpcml::launch {

/// What every rank is started with.
struct RankStartContext {
  const LaunchRequest& request;
  const RuntimeContext& context;
  std::shared_ptr<const NodeSetup> node;
  sigset_t mask{};    ///< signals that a rank finds blocked
  rlimit files{};     ///< descriptors that a rank may open
  std::string mark{}; ///< of this launch, for its guard
  int input = -1;     ///< standard input of the first rank; the others have none
  std::vector<std::unique_ptr<store::SharedStoreActivity>>
      activity{}; ///< of each rank, if its rendezvous is observed
};

/// A process that starts the ranks, one after another. They are nevertheless children of launch, so that
/// both are notified of each other's exit.
class RankStarter {
public:
  explicit RankStarter(System& system) : x_system(system) {}
  ~RankStarter();
  RankStarter(const RankStarter&) = delete;
  RankStarter& operator=(const RankStarter&) = delete;

  /// Begins to start `count` ranks.
  util::Status begin(const RankStartContext& start, unsigned count);
  /// The next rank in the order of their numbers, once it runs; an error is the last word.
  util::Result<RankProcess> next();
  /// Starts no more of them; what comes by `next` no more is closed.
  void stop();

private:
  System& x_system;
  int x_line = -1; ///< a message for each rank comes here
  pid_t x_pid = -1;
  unsigned x_first_rank = 0, x_local = 0;
};

} // namespace hpcml::launch
