// SPDX-License-Identifier: MIT
// Which ddp_rank the tests start.
#pragma once

#include <cstdlib>
#include <string>

/// The one of this build, or that of the environment: built otherwise, as under a sanitizer.
inline std::string ddp_rank() {
  const char* other = std::getenv("HPCML_DDP_RANK");
  return other == nullptr ? HPCML_DDP_RANK : other;
}
