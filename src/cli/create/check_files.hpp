// SPDX-License-Identifier: MIT
// The input of hpcml check: named files, standard input, and the job scripts below a directory.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "core/util/result.hpp"

namespace hpcml::cli {

/// True if a file found below a directory is a batch script: one of its first 100 lines begins with
/// "#SBATCH", and it has the first line or the name of a script (a manual that shows one has neither).
/// `head`: its first bytes.
bool is_job_script(const std::string& name, std::string_view head);

/// The file's bytes; of one that is larger than Slurm takes as a script, or has no end, one byte more than
/// that.
util::Result<std::string> read_script_file(const std::filesystem::path& path);

/// The text of a small file that a script names: relative to the script, where its job most likely starts.
/// Nothing for the standard input's.
std::optional<std::string> read_named_file(const std::string& script, const std::string& name);

/// Passes every file to `visit`, in order; of directories the job scripts and hpcml.json below them. "-" is
/// standard input. `only_scripts`: also of the named files only job scripts. Prints an error and returns
/// false if a file cannot be read.
bool visit_files(const std::vector<std::string>& paths, bool only_scripts, const Context& context,
                 const std::function<void(const std::string& name, std::string text)>& visit);

} // namespace hpcml::cli
