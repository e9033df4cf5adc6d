// SPDX-License-Identifier: MIT
// What a command that starts ranks finds of the world around it.
#pragma once

#include "cli/command.hpp"
#include "run/launch/launch_context.hpp"

namespace hpcml::cli {

/// `context` must outlive the result.
launch::RuntimeContext runtime_context_of(const Context& context);

} // namespace hpcml::cli
