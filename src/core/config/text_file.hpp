// SPDX-License-Identifier: MIT
// Reading the files that users write: profiles, job files, the configuration.
#pragma once

#include <string>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::config {

/// Returns the file's text. Directories, pipes, devices and files larger than 1 MiB are errors. With
/// `owner_hint` so are files that belong neither to the caller nor to root.
util::Result<std::string> load_text_file(const std::string& path, const char* owner_hint = nullptr);

/// $XDG_CONFIG_HOME/hpcml, or ~/.config/hpcml; empty without a home.
std::string config_directory(const util::EnvSnapshot& env);

} // namespace hpcml::config
