// SPDX-License-Identifier: MIT
// Reading the files that people write: profiles, job files, the configuration.
#pragma once

#include <string>

#include "util/env_snapshot.hpp"
#include "util/result.hpp"

namespace hpcml::spec {

/// The file's text. A path may lead anywhere: folders, devices and files of more than 1 MiB are errors, which
/// say what `what`
/// ("the job file") is then.
util::Result<std::string> load_text_file(const std::string& path, const std::string& what);

/// $XDG_CONFIG_HOME/hpcml, or ~/.config/hpcml; empty without a home.
std::string config_folder(const util::EnvSnapshot& env);

} // namespace hpcml::spec
