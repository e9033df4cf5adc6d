// SPDX-License-Identifier: MIT
// A rank's failure as the bytes that one agent sends to the others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/failures/rank_failure.hpp"

namespace hpcml::agent {

std::string pack_failure(const failures::RankFailure& note);
/// Nothing where these bytes are none.
std::optional<failures::RankFailure> unpack_failure(std::string_view bytes);

} // namespace hpcml::agent
