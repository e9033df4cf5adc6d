// SPDX-License-Identifier: MIT
// Programs that choose which Python runs: runners such as uv and conda, and shims of pyenv.
#pragma once

#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/find_torch/find_torch.hpp"

namespace hpcml::find_torch {

/// Returns the error for a program that `starter` runs, and whose name hpcml cannot read.
util::Error unknown_program(const std::string& starter);

/// Returns the directory with bin/python of the environment that uv, pixi, poetry, conda or micromamba
/// activates. `words`: the runner and its options. The error contains why it is unknown, as a clause.
util::Result<std::string> find_runner_environment(const std::vector<std::string>& words,
                                                  const util::EnvSnapshot& env, const std::string& cwd,
                                                  const FileSystemView& files);

/// Returns the program that a shim of pyenv starts; `shim` itself if it is another program. The error
/// contains why the program is unknown, as a clause.
util::Result<std::string> follow_pyenv_shim(const std::string& shim, const util::EnvSnapshot& env,
                                            const std::string& cwd, const FileSystemView& files);

} // namespace hpcml::find_torch
