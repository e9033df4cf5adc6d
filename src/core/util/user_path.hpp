// SPDX-License-Identifier: MIT
// A path as a person writes it, as the file system wants it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::util {

/// Where a person's paths start: their home and the folder they work in.
struct UserDirectories {
  std::string home;                ///< empty: unknown
  std::filesystem::path directory; ///< absolute
};
/// $HOME, and the working folder under the name that the shell has for it ($PWD) as long as that is the same
/// folder.
UserDirectories user_places(const EnvSnapshot& env);
/// "~" and "~/x" from the home folder, relative paths from the working folder, both without "." and "..";
/// an absolute path as it is. An error for an empty text, for the home of somebody else ("~name/x") and for a
/// variable
/// ("$SCRATCH/x").
Result<std::string> absolute_path(std::string_view text, const UserDirectories& places);

/// Where this person's hpcml keeps what it has made of one kind: $XDG_CACHE_HOME/hpcml/KIND, else
/// ~/.cache/hpcml/KIND. Fails where neither variable is an absolute path; one that is relative counts as
/// unset, as the XDG rules have it.
Result<std::string> cache_directory(const EnvSnapshot& env, std::string_view kind);

} // namespace hpcml::util
