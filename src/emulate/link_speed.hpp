// SPDX-License-Identifier: MIT
// Cables of an emulated cluster that are slower than memory, by the kernel's token bucket (the program `tc`).
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "core/util/result.hpp"

namespace hpcml::emulate {

/// What a cable counts as, in Mbit/s: the speed that the kernel says of one.
inline constexpr unsigned k_cable_speed = 10000;

/// Whether links can be made slower here; the error says what is missing.
util::Status try_link_speed();

/// Lets what leaves by the interface have k_cable_speed / `factor`; 1: no limit. `in`: the interface is in
/// that process's network namespace, and not in the caller's.
util::Status set_link_speed(const std::string& interface, unsigned factor, std::optional<pid_t> in);

/// "1 Gbit/s", "400 Mbit/s": what is left of a cable.
std::string describe_link_speed(unsigned factor);

} // namespace hpcml::emulate
