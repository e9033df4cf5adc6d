// SPDX-License-Identifier: MIT
// A port that stays free for a program that will open it later.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::store {

/// Keeps `port` from being chosen by the kernel for anybody else, for a minute (Linux's TIME_WAIT): at each
/// of the numeric `addresses` it leaves what is left of a connection to itself. A program that sets
/// SO_REUSEADDR, as torch's store and gRPC do, can listen there at once; one that does not has to wait. An
/// error where somebody has the port.
util::Status keep_port(std::uint16_t port, const std::vector<std::string>& addresses = {"127.0.0.1"});

} // namespace hpcml::store
