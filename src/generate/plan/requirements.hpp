// SPDX-License-Identifier: MIT
// What --packages and --wheelhouse may name: packages, or a file that lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/diag/diagnostic.hpp"

namespace hpcml::plan {

/// What installs the packages, and so which files it reads.
enum class PackageInstaller : std::uint8_t { pip, uv, conda };

/// The path, if the text names a file of requirements: one word with a slash, or that ends as such files do:
/// "requirements.txt", "environment.yml", "pyproject.toml", "uv.lock". Spaces around it do not count.
std::optional<std::string> requirements_file(const std::string& text);
/// True if the file is a conda environment.
bool is_conda_file(const std::string& path);
/// True if the file is uv's lock of a project.
bool is_uv_lock(const std::string& path);
/// The words for the installer: packages as "torch", "numpy>=1.26", or {"-r", FILE}; of a project for pip its
/// directory. A text that is none of them, or a file that the installer does not read, is a finding about
/// `option` ("--wheelhouse").
std::vector<std::string> requirement_words(const std::string& text, const std::string& option,
                                           diag::Diagnostics& findings,
                                           PackageInstaller installer = PackageInstaller::pip);

} // namespace hpcml::plan
