// SPDX-License-Identifier: MIT
// Names of the system calls in which processes wait.
#pragma once

#include <string>

namespace hpcml::agent {

enum class Processor { x86_64, aarch64, other };

/// Of the machine that this program was built for.
constexpr Processor own_processor() {
#if defined(__x86_64__)
  return Processor::x86_64;
#elif defined(__aarch64__)
  return Processor::aarch64;
#else
  return Processor::other;
#endif
}

/// "futex"; "system call 999" where the name is not known.
std::string syscall_name(long number, Processor processor = own_processor());

} // namespace hpcml::agent
