// SPDX-License-Identifier: MIT
// Removes builds that cannot be used any more from the cache, because their torch was removed or replaced.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::torch_build {

/// The file in a build's directory with the identity (`file_identity`) of the file that it was built for:
/// torch's library or an image. A build without it is kept.
constexpr const char* k_built_for_name = "built-for";

/// The time that a build without its torch is kept after its last use, because a program that was linked
/// with it may still run.
constexpr std::chrono::hours k_kept_for{30 * 24};

/// A directory of the cache.
struct CachedBuild {
  using Time = std::chrono::system_clock::time_point;
  std::string name;
  std::string built_for; ///< identity of its torch at that time; empty: unknown
  std::string existing;  ///< and of what is at that path now
  Time used{};           ///< made, or read last, whichever is later
};

/// The path in a file's identity. Pure.
std::string path_of_identity(const std::string& identity);

/// Whether it may go. Pure.
bool is_outlived(const CachedBuild& build, CachedBuild::Time now);

/// The builds in a cache, and what builds that were killed have left.
std::vector<CachedBuild> read_kept_builds(const std::string& cache);

/// Removes those that may go; their names.
std::vector<std::string> remove_outlived_builds(const std::string& cache, CachedBuild::Time now);

/// Records in the directory of a build that it was built for an image. An image that is not a file here is
/// not recognised again, and its build is kept.
void note_image(const std::string& directory, const std::string& image);

} // namespace hpcml::torch_build
