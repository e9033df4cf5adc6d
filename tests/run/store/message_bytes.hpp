// SPDX-License-Identifier: MIT
// Numbers and texts as torch's clients write them. Of the standard library alone: the benchmarks are built
// without the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace messages {

inline std::string u64(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}
inline std::string text(std::string_view value) { return u64(value.size()) + std::string(value); }

} // namespace messages
