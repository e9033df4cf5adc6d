// SPDX-License-Identifier: MIT
// Rank 0's launcher decides for all ranks which rendezvous store their programs use, and which variables
// name it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "run/launch/launch_context.hpp"
#include "run/resolve/rank_setup.hpp"
#include "run/store/hpcml_protocol.hpp"

namespace hpcml::launch {

/// Makes the decision for all ranks from the setup of rank 0, and reports it on standard error if it is
/// unusual. `ports` are those of the step, the most likely first; one is reserved if rank 0's program is to
/// open it.
store::MasterEndpoint decide_rendezvous(const RankSetup& setup, const LaunchRequest& request,
                                        const RuntimeContext& context,
                                        const std::vector<std::uint16_t>& ports);

/// The decision that each rank makes alone if the ranks share no key: the same for all, as it follows from
/// the step. Rank 0 keeps the ports for its program; the error is about one that it cannot keep.
util::Result<store::MasterEndpoint> decide_alone(const RankSetup& setup, const LaunchRequest& request,
                                                 const RuntimeContext& context, std::uint16_t port);

/// Gives the program of a rank the values of a decision, which are all that it gets of what ranks agree on.
/// `store_place`: HOST:PORT of hpcml's store; empty: the program does not get it.
void apply_decision(RankSetup& setup, const LaunchRequest& request, const store::MasterEndpoint& decision,
                    const std::string& store_place);

/// The error about a port that another process has, for ranks that cannot learn another one.
util::Error port_in_use(std::uint16_t port, const std::string& for_whom, const util::Error& why);

/// An address of rank 0's node that rank 0 can send to all ranks, if its name does not resolve; empty
/// if there is none. `preferred`: addresses that are taken if they are this node's.
std::string find_own_address(const std::vector<std::string>& preferred);

} // namespace hpcml::launch
