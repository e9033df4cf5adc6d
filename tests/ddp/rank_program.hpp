// SPDX-License-Identifier: MIT
// Which ddp_rank the tests start, and how long its groups wait.
#pragma once

#include <cstdlib>
#include <string>

#include "torch/helper/tested_build.hpp"

/// The one of this build, or that of the environment: built otherwise, as under a sanitizer.
inline std::string ddp_rank() {
  const char* program = std::getenv("HPCML_DDP_RANK");
  return program == nullptr ? torch_test::tested_build().ddp_rank : program;
}

/// Seconds of a group whose time is to run out: ranks that start on a busy machine have to meet within it,
/// too.
inline const std::string k_short = "6";
