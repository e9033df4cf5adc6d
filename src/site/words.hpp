// SPDX-License-Identifier: MIT
// How what a profile says is told.
#pragma once

#include <string>

#include "model/origin.hpp"

namespace hpcml::site {

/// " [partitions page (2024-10-15)]", or nothing where the origin names no document.
inline std::string cited(const model::Origin& origin) {
  return origin.source.empty() ? "" : " [" + origin.source + "]";
}

} // namespace hpcml::site
