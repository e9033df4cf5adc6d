// SPDX-License-Identifier: MIT
// Where what was built is kept, and under which name it is found again.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/util/embedded.hpp"
#include "core/util/env_snapshot.hpp"
#include "torch/build/torch_package.hpp"

namespace hpcml::torch_build {

/// Returns the default directory of the cache. Fails if neither a home nor a cache directory is known.
util::Result<std::string> torch_cache(const util::EnvSnapshot& env);

/// Returns `wanted` (relative to `cwd`) or, if it is empty, the default, as an absolute directory. Creates
/// it, and checks that it is writable.
util::Result<std::string> make_cache(const std::string& wanted, const util::EnvSnapshot& env,
                                     const std::string& cwd);

/// Path, size and time of a file: it is another one where they differ.
std::string file_identity(const std::string& path);

/// The identity of a package's library.
std::string library_identity(const TorchPackage& package);

/// The name of all builds for this torch by this hpcml: version, ABI, and a number of the library (its place,
/// size and time) and of the sources.
std::string package_key(const TorchPackage& package, std::span<const embedded::EmbeddedFile> sources);

/// The name of one of them: by this compiler, with these headers of NCCL and the driver.
std::string build_key(const std::string& package_key, const std::string& compiler_identity,
                      const TorchPackage& package);

/// Returns whether this directory of the cache contains a complete build.
bool is_built(const std::string& directory);

/// Returns the newest directory in the cache that was built for the package, if any. Does not need a
/// compiler.
std::optional<std::string> find_built(const std::string& cache, const std::string& package_key);

/// Writes the files below `directory`.
util::Status write_embedded(std::span<const embedded::EmbeddedFile> files, const std::string& directory);

} // namespace hpcml::torch_build
