// SPDX-License-Identifier: MIT
// What one rank gets of its node's plan: environment, CPUs, GPUs, caches. Pure.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/resolve/node_setup.hpp"

namespace hpcml::launch {

/// The decisions for one rank.
struct RankSetup {
  std::shared_ptr<const NodeSetup> node; ///< what it shares with the others
  World world;
  util::EnvSnapshot env;                                    ///< complete environment of the program
  std::vector<std::pair<std::string, std::string>> changes; ///< what launch sets, in order, for --dry-run
  std::vector<std::string> removed;                         ///< variables that launch takes away
  plan::RankPlan plan;
  std::string gpus;                  ///< for reports: "0,1" or "none"
  bool store_serves = false;         ///< hpcml serves at MASTER_PORT: rank 0's program does not
  std::vector<std::string> warnings; ///< the rank's own; those of all ranks are the node's
};

/// The node as its local rank `local_rank` sees it, with the variables of its caches.
RankSetup make_rank_setup(const LaunchRequest& request, std::shared_ptr<const NodeSetup> node,
                          unsigned local_rank);

/// Sets what launch sets a second time for a program in an image, under the names by which its engine sets
/// variables there whatever its options are. To be called after the rendezvous.
void set_container_variables(RankSetup& setup, const LaunchRequest& request);

/// Returns the command of local rank `local_rank`. If requested, each argument is a Python template as in
/// torchrun: ${local_rank} and $local_rank become its number, $$ becomes a dollar, and other text is kept.
std::vector<std::string> command_of_rank(const LaunchRequest& request, unsigned local_rank);

/// `text` with $NAME, ${NAME} and ${NAME:-word} replaced; nothing if it needs a shell (a command, another
/// operator). Pure.
std::optional<std::string> expand_variables(const std::string& text, const util::EnvSnapshot& env);

} // namespace hpcml::launch
