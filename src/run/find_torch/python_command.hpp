// SPDX-License-Identifier: MIT
// A script or module of the user as a command of the active Python.
#pragma once

#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::find_torch {

/// Returns PYTHON -u [-m] WORDS… with the active Python. A compiled program instead of the script is an
/// error with a hint.
util::Result<std::vector<std::string>> find_python_command(const std::vector<std::string>& words, bool module,
                                                           const util::EnvSnapshot& env);

/// The Python of $VIRTUAL_ENV, else of $CONDA_PREFIX, else python3 or python from PATH.
util::Result<std::string> find_active_python(const util::EnvSnapshot& env);

/// The Python for scripts that `program` (argv[0] of this process) starts: that of the environment whose bin
/// it is in, else of the active environment. Without either, a torchrun with a slash in it prefers the Python
/// next to it to that of PATH.
util::Result<std::string> find_python_of_program(const std::string& program, const util::EnvSnapshot& env);

/// Whether the file begins as a compiled program does.
bool is_compiled_program(const std::string& path);

} // namespace hpcml::find_torch
