// SPDX-License-Identifier: MIT
// The day it is.
#pragma once

#include <string>

#include "core/util/env_snapshot.hpp"

namespace hpcml::util {

/// YYYY-MM-DD in UTC; the day of SOURCE_DATE_EPOCH (seconds since 1970) where that is set, as in builds that
/// can be repeated.
std::string today(const EnvSnapshot& env);

} // namespace hpcml::util
