// SPDX-License-Identifier: MIT
// A path as a user writes it, as the file system requires it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::util {

/// Where a user's paths start: their home and the directory they work in.
struct PathBaseDirectories {
  std::string home;                ///< empty: unknown
  std::filesystem::path directory; ///< absolute
};
/// $HOME, and the working directory under the name that the shell has for it ($PWD) as long as that is the
/// same directory.
PathBaseDirectories user_places(const EnvSnapshot& env);
/// "~" and "~/x" from the home directory, relative paths from the working directory, both without "." and
/// ".."; an absolute path unchanged. An error for an empty text, for the home of another user ("~name/x")
/// and for a variable ("$SCRATCH/x").
Result<std::string> absolute_path(std::string_view text, const PathBaseDirectories& places);

/// NAME of "$NAME/x" or "${NAME}/x", a path that a job's own shell expands; empty for any other text, also
/// for one with more of the shell's characters.
std::string leading_variable(std::string_view path);

/// Where this user's hpcml keeps what it has made of one kind: $XDG_CACHE_HOME/hpcml/KIND, else
/// ~/.cache/hpcml/KIND. Fails where neither variable is an absolute path; one that is relative counts as
/// unset, as the XDG rules have it.
Result<std::string> cache_directory(const EnvSnapshot& env, std::string_view kind);

} // namespace hpcml::util
