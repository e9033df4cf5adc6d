// SPDX-License-Identifier: MIT
// The same build in an image: this program runs there, and what it builds lands in the cache out here.
#pragma once

#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/process.hpp"
#include "core/util/result.hpp"
#include "torch/build/build.hpp"

namespace hpcml::torch_build {

/// What is asked for.
struct ImageBuildRequest {
  BuildRequest request; ///< `torch` is a directory in the image
  std::string image;    ///< a file, a directory, or a name known to the engine
  std::string engine;   ///< its program; empty: the first in PATH that runs such an image
  std::string program;  ///< the running hpcml
};

/// Where the image sees the cache.
inline constexpr const char* k_inside = "/mnt";

/// The programs that can run an image without Slurm.
std::vector<std::string> image_engines();

/// The words that run `command` in the image with `directory` at k_inside: pure. An unknown engine gives
/// none.
std::vector<std::string> image_words(const std::string& engine, const std::string& image,
                                     const std::string& directory, const std::vector<std::string>& command);

/// Why it built nothing: hpcml's own errors in there with their hints, or what kept the engine from running
/// it. Pure.
util::Error explain_failure(const std::string& engine, const std::string& image,
                            const util::ProcessOutput& output);

util::Result<CompletedBuild> build_in_image(const ImageBuildRequest& choice, const util::EnvSnapshot& env,
                                            const std::string& cwd, const ProgressSink& report);

} // namespace hpcml::torch_build
