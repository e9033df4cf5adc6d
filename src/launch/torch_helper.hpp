// SPDX-License-Identifier: MIT
// Where hpcml-torch is: the program that holds everything that needs LibTorch.
#pragma once

#include <filesystem>

#include "util/env_snapshot.hpp"
#include "util/result.hpp"

namespace hpcml::launch {

/// $HPCML_TORCH_HELPER, else libexec/hpcml/hpcml-torch beside the bin/ folder of `program` (the running hpcml).
/// The error says how to build it.
util::Result<std::filesystem::path> find_torch_helper(const std::filesystem::path& program, const util::EnvSnapshot& env);

} // namespace hpcml::launch
