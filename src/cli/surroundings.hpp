// SPDX-License-Identifier: MIT
// What a command that starts ranks finds of the world around it.
#pragma once

#include "cli/command.hpp"
#include "launch/request.hpp"

namespace hpcml::cli {

launch::Surroundings surroundings_of(const Context& context);

} // namespace hpcml::cli
