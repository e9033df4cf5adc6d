// SPDX-License-Identifier: MIT
// Reading and writing another process's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <sys/types.h>

namespace hpcml::emulate {

/// True if all `size` bytes could be copied.
bool read_remote(pid_t pid, std::uint64_t address, void* data, std::size_t size);
/// The same in the other direction.
bool write_remote(pid_t pid, std::uint64_t address, const void* data, std::size_t size);
/// The text that ends with a zero byte at `address`; empty if it is longer than the buffer or cannot be read.
std::string_view read_remote_text(pid_t pid, std::uint64_t address, char* buffer, std::size_t size);

} // namespace hpcml::emulate
