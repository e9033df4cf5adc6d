// SPDX-License-Identifier: MIT
// The job of a rendezvous, and the ports that it may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/slurm/step_env.hpp"

namespace hpcml::launch {

/// The number of ports that the store of a step may use, in addition to a requested one.
constexpr unsigned k_rendezvous_ports = 8;

/// What all launchers and stores of a job say of it, and those of no other job. Pure but for this user's
/// number.
std::string rendezvous_job(const slurm::StepIdentity& identity);

/// The ports at which a step's store may be, the likeliest first: the one that was asked for, the step's
/// own, and those that follow from that. Pure.
std::vector<std::uint16_t> rendezvous_ports(unsigned first, std::optional<unsigned> requested = std::nullopt);

} // namespace hpcml::launch
