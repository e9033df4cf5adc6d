// SPDX-License-Identifier: MIT
// hpcml gen --from: an existing script as the lowest layer of a request.
#pragma once

#include <string>

#include "cli/create/request_flags.hpp"

namespace hpcml::cli {

/// Reads the script for the request's site and puts what it asks for below the request; says on standard
/// error what changes. False, with the exit code, where that cannot be done.
bool add_script(MergedRequest& request, const std::string& file, const Context& context, int& exit_code);

} // namespace hpcml::cli
