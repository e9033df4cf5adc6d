// SPDX-License-Identifier: MIT
// Which directories for temporary files each emulated node has for itself, and what of the machine's it still
// sees.
#pragma once

#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "emulate/sandbox.hpp"

namespace hpcml::emulate {

/// The directories, without their sources, outer ones first; and what a user should know of them.
struct TemporaryDirectories {
  std::vector<PerNodeDirectory> directories;
  std::vector<std::string> notes;
};

/// /tmp, /var/tmp and $TMPDIR. The directories that already exist stay visible: work is often done below
/// /tmp; what is made later is its node's own. A place that is the user's working or home directory stays
/// shared.
TemporaryDirectories find_temporary_places(const util::EnvSnapshot& env,
                                           const std::string& working_directory);

/// The node's part of it, on the sandbox's file system.
std::vector<PerNodeDirectory> own_directories_of(const TemporaryDirectories& places,
                                                 const std::string& state_dir, const std::string& node);
/// Makes the sources of a node, with the rights of a directory for temporary files.
util::Status make_own_directories(const std::vector<PerNodeDirectory>& directories);
/// A place and what is kept in it, one name a line, for programs on the nodes: the file's name below the
/// state directory, and its text.
std::vector<std::pair<std::string, std::string>> make_kept_lists(const TemporaryDirectories& places);

} // namespace hpcml::emulate
