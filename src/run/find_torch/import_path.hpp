// SPDX-License-Identifier: MIT
// The directories that a Python searches for a package, in its order, determined from files and variables.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "run/find_torch/find_torch.hpp"

namespace hpcml::find_torch {

/// A command line of Python, as far as it decides where modules come from.
struct PythonImportOptions {
  bool no_variables = false; ///< -E, -I
  bool no_user_site = false; ///< -s, -I
  bool no_site = false;      ///< -S
  std::optional<std::string>
      own_path; ///< the first entry: the directory of the script, or the working directory
};

/// Parses the arguments of `python`; variables in `env` can have the effect of -P, -s and -E.
PythonImportOptions read_import_options(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                                        const std::string& cwd, const FileSystemView& files);

/// Visits one directory; true ends the walk. A package directory without a match is visited again with its
/// names, which can refer to packages elsewhere.
using DirectoryVisitor =
    std::function<bool(const std::string& directory, const std::vector<std::string>* names)>;

/// Returns `path`, or its place below `directory` if it is relative.
std::string absolute_path(const std::string& path, const std::string& directory);

/// Returns the target of a chain of links, with the directories as written.
std::string follow_links(std::string path, const FileSystemView& files);

/// Calls `see` with each directory until it returns true. `program` is the absolute path of the Python.
/// Returns an empty text, or why not all directories are known.
std::string visit_import_directories(const std::string& program, const PythonImportOptions& options,
                                     const util::EnvSnapshot& env, const std::string& cwd,
                                     const FileSystemView& files, const DirectoryVisitor& see);

} // namespace hpcml::find_torch
