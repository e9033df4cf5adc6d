// SPDX-License-Identifier: MIT
// Which job a meeting is for, and the ports where it may be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/slurm/step_env.hpp"

namespace hpcml::launch {

/// The store of a step is at one of so many ports, beside one that was asked for.
constexpr unsigned k_rendezvous_ports = 8;

/// What all launchers and stores of a job say of it, and those of no other job. Pure but for this user's
/// number.
std::string rendezvous_job(const slurm::StepIdentity& identity);

/// The ports at which a step's store may be, the likeliest first: the one that was asked for, the step's
/// own, and those that follow from that. Pure.
std::vector<std::uint16_t> rendezvous_ports(unsigned first, std::optional<unsigned> requested = std::nullopt);

} // namespace hpcml::launch
