// SPDX-License-Identifier: MIT
#include "emulate/remote_memory.hpp"

#include <algorithm>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace hpcml::emulate {

namespace {
void* as_pointer(std::uint64_t address) {
  // An address of another process, which only the kernel follows.
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); // NOLINT(performance-no-int-to-ptr)
}
} // namespace

bool read_remote(pid_t pid, std::uint64_t address, void* data, std::size_t size) {
  const iovec local_part{data, size};
  const iovec remote_part{as_pointer(address), size};
  return ::process_vm_readv(pid, &local_part, 1, &remote_part, 1, 0) == static_cast<ssize_t>(size);
}

bool write_remote(pid_t pid, std::uint64_t address, const void* data, std::size_t size) {
  const iovec local_part{const_cast<void*>(data), size};
  const iovec remote_part{as_pointer(address), size};
  return ::process_vm_writev(pid, &local_part, 1, &remote_part, 1, 0) == static_cast<ssize_t>(size);
}

std::string_view read_remote_text(pid_t pid, std::uint64_t address, char* buffer, std::size_t size) {
  // The text may end just before an unmapped page: the second piece is allowed to fail.
  static const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = std::min<std::uint64_t>(size, page - address % page);
  const iovec local_part{buffer, size};
  const iovec remote_parts[2] = {{as_pointer(address), first}, {as_pointer(address + first), size - first}};
  const ssize_t count = ::process_vm_readv(pid, &local_part, 1, remote_parts, first < size ? 2 : 1, 0);
  if (count <= 0) return {};
  const void* end = std::memchr(buffer, 0, static_cast<std::size_t>(count));
  if (!end) return {};
  return {buffer, static_cast<std::size_t>(static_cast<const char*>(end) - buffer)};
}

} // namespace hpcml::emulate
