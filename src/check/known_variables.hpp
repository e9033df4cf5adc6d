// SPDX-License-Identifier: MIT
// The environment variables that the libraries of a training read, and names that are mistaken for them.
#pragma once

#include <cstddef>
#include <string_view>

namespace hpcml::check {

/// True if a library reads a variable of this name, or an installation sets it: CUDA_HOME.
bool is_known_variable(std::string_view name);

/// Shorter names are not taken for others.
inline constexpr std::size_t k_shortest_name = 8;

/// The known variable that is meant by another name: NCCL_SOCKET_IFNAME for NCCL_SOCKET_IFNAMES. Empty if
/// none is near.
std::string_view meant_variable(std::string_view name);

} // namespace hpcml::check
