// SPDX-License-Identifier: MIT
// Builds that nobody can take any more, since their torch has gone or is another one: they leave the cache.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::torch_build {

/// What is in a build's folder beside the build: the identity (`file_identity`) of the file that it was built
/// for, torch's library or an image. A build without it is left alone.
constexpr const char* k_built_for_name = "built-for";

/// So long a build whose torch has gone is kept after it was last used: a program that was linked with it may
/// still run.
constexpr std::chrono::hours k_kept_for{30 * 24};

/// A folder of the cache.
struct CachedBuild {
  using Time = std::chrono::system_clock::time_point;
  std::string name;
  std::string built_for; ///< identity of its torch then; empty: nobody knows
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

/// Notes in the folder of a build made in an image that the image is what it was built for; an image that is
/// no file here is not known again, and its build stays.
void note_image(const std::string& directory, const std::string& image);

} // namespace hpcml::torch_build
