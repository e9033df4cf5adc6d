// SPDX-License-Identifier: MIT
// The rendezvous endpoint: an address and ports that every rank of a step computes by itself. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/slurm/step_env.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::launch {

/// The number of ports that the store of a step may use, in addition to a requested one.
constexpr unsigned k_rendezvous_ports = 8;

/// The same port on all ranks of a step; neighbouring steps of a job, and a requeued job, get others.
unsigned step_port(const slurm::StepIdentity& identity);

/// The address of rank 0: HPCML_MASTER_ADDR where HPCML_MASTER_NODE is this step's first node (the batch
/// script looked an interface up there), else the first node's name with the site's suffix.
std::string step_address(const util::EnvSnapshot& env, const std::string& first_node,
                         const std::string& suffix);

/// The ports at which a step's store may be, the likeliest first: the one that was asked for, the step's
/// own, and those that follow from that.
std::vector<std::uint16_t> rendezvous_ports(unsigned first, std::optional<unsigned> requested = std::nullopt);

/// A second port for a process group that is gone before the program starts; the same on all ranks, never
/// `port`.
unsigned side_port(unsigned port);

} // namespace hpcml::launch
