// SPDX-License-Identifier: MIT
// Messages as torch's clients write them, made here from the field widths alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/protocol.hpp"

namespace messages {

inline std::string u64(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}
inline std::string text(std::string_view value) { return u64(value.size()) + std::string(value); }
inline std::string op(hpcml::store::Op op, const std::string& body = {}) {
  return static_cast<char>(op) + body;
}
inline std::string greeting() { return std::string("\x00\xce\xf7\x85\x3c", 5); }

} // namespace messages
