// SPDX-License-Identifier: MIT
// Programs that choose which Python runs: runners such as uv and conda, shims of pyenv and shells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/find_torch/find_torch.hpp"

namespace hpcml::find_torch {

/// True for uv, pixi, poetry, conda and micromamba.
bool is_runner(const std::string& program);

/// Returns the directory with bin/python of the environment that a runner activates. `words`: the runner and
/// its options. The error contains why it is unknown, as a clause.
util::Result<std::string> find_runner_environment(const std::vector<std::string>& words,
                                                  const util::EnvSnapshot& env, const std::string& cwd,
                                                  const FileView& files);

/// Returns the words of a shell's text that is one simple command without redirections, with the variables
/// that it sets first; nothing for other texts. Variables and substitutions in the words stay as written.
std::optional<std::vector<std::string>> split_simple_command(const std::string& text);

/// Returns the program that a shim of pyenv starts; `shim` itself if it is another program. The error
/// contains why the program is unknown, as a clause.
util::Result<std::string> follow_pyenv_shim(const std::string& shim, const util::EnvSnapshot& env,
                                            const std::string& cwd, const FileView& files);

} // namespace hpcml::find_torch
