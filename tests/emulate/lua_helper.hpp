// SPDX-License-Identifier: MIT
// The Lua library that Slurm's plugin uses, as an oracle for generated Lua. It has no headers in Debian's
// slurm-wlm.
#pragma once

#include <optional>
#include <string>

namespace hpcml::test {

/// What the chunk returns, as text ("error: …" when it fails); nothing where liblua5.1 is not installed.
std::optional<std::string> run_lua(const std::string& chunk);

} // namespace hpcml::test
