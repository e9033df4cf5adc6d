// SPDX-License-Identifier: MIT
// Messages as torch's clients write them, made here from the field widths alone.
#pragma once

#include <string>

#include "run/store/message_bytes.hpp"
#include "run/store/protocol.hpp"

namespace messages {

inline std::string op(hpcml::store::StoreOpcode op, const std::string& body = {}) {
  return static_cast<char>(op) + body;
}
inline std::string greeting() { return std::string("\x00\xce\xf7\x85\x3c", 5); }

} // namespace messages
