// SPDX-License-Identifier: MIT
// Names of the system calls in which processes wait.
#pragma once

#include <string>

namespace hpcml::agent {

enum class SyscallArchitecture { x86_64, aarch64, other };

/// Of the machine that this program was built for.
constexpr SyscallArchitecture own_processor() {
#if defined(__x86_64__)
  return SyscallArchitecture::x86_64;
#elif defined(__aarch64__)
  return SyscallArchitecture::aarch64;
#else
  return SyscallArchitecture::other;
#endif
}

/// "futex"; "system call 999" where the name is not known.
std::string syscall_name(long number, SyscallArchitecture processor = own_processor());

} // namespace hpcml::agent
