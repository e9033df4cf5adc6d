// SPDX-License-Identifier: MIT
// Origins in words.
#pragma once

#include <string>

#include "core/model/origin.hpp"

namespace hpcml::render {

/// "flag --nodes", "site profile partitions[0].max_time; partitions page; checked 2026-11-20".
std::string describe_origin(const model::Origin& origin);

} // namespace hpcml::render
