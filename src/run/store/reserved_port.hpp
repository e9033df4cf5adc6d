// SPDX-License-Identifier: MIT
// A port that stays free for a program that will open it later.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::store {

/// Prevents the kernel from choosing `port` for other processes for a minute (Linux's TIME_WAIT) by a closed
/// connection to itself at each of the numeric `addresses`. A program that sets SO_REUSEADDR, such as
/// torch's store and gRPC, can listen at once; another one has to wait. Fails if the port is in use.
util::Status keep_port(std::uint16_t port, const std::vector<std::string>& addresses = {"127.0.0.1"});

} // namespace hpcml::store
