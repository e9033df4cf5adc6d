// SPDX-License-Identifier: MIT
// The folders in which a Python looks for a package, in its order, as files and variables tell them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "run/find_torch/find_torch.hpp"

namespace hpcml::find_torch {

/// A command line of Python, as far as it decides where modules come from.
struct PythonCommandLine {
  bool no_variables = false;           ///< -E, -I
  bool no_user_site = false;           ///< -s, -I
  bool no_site = false;                ///< -S
  std::optional<std::string> own_path; ///< what comes before all else: the script's folder, or this one
};

/// Reads the words behind `python`; `env` may say -P, -s and -E itself.
PythonCommandLine read_python_line(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                                   const std::string& cwd, const FileView& files);

/// Sees one folder; true ends the walk. Where nothing is in a folder of packages, it sees that once more with
/// the names in it: what lies elsewhere is noted there.
using DirectoryVisitor =
    std::function<bool(const std::string& directory, const std::vector<std::string>* names)>;

/// The file behind a chain of links; folders on the way stay as they are written.
std::string follow_links(std::string path, const FileView& files);

/// Calls `see` with one folder after the other until it returns true. `program` is the Python's absolute
/// path. The result is empty, or says why the folders cannot all be told.
std::string visit_import_directories(const std::string& program, const PythonCommandLine& line,
                                     const util::EnvSnapshot& env, const std::string& cwd,
                                     const FileView& files, const DirectoryVisitor& see);

} // namespace hpcml::find_torch
