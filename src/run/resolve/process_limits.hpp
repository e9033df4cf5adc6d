// SPDX-License-Identifier: MIT
// Limits of a process that a training needs higher than a login shell has them: locked memory, open files.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hpcml::launch {

/// A limit as the kernel has it for this process.
struct ProcessLimit {
  std::uint64_t soft = k_unlimited;
  std::uint64_t hard = k_unlimited;
  static constexpr std::uint64_t k_unlimited = ~std::uint64_t{0};
};

struct ProcessLimits {
  ProcessLimit locked_memory; ///< bytes (ulimit -l)
  ProcessLimit open_files;    ///< descriptors (ulimit -n)
};

/// Registering buffers with InfiniBand, RoCE or Omni-Path locks their memory. NCCL alone registers some
/// hundred MiB on a node; less than this is the limit of a shell, not of a node that is set up for it.
constexpr std::uint64_t k_enough_locked_memory = std::uint64_t{1} << 30;
/// Data loaders pass tensors by descriptors; the usual soft limit of 1024 is soon used up.
constexpr std::uint64_t k_enough_open_files = 65536;

/// The part of a site's description of its network that names it ("InfiniBand HDR" of "InfiniBand HDR, 200
/// Gb/s"), if that network locks the memory that it registers; else empty.
std::string locking_fabric_of(const std::string& description);

/// The limits that a rank is to have: soft limits raised as far as the hard ones allow.
ProcessLimits raise_limits(const ProcessLimits& limits);

/// Why a limit of locked memory is too low.
struct LockedMemoryFault {
  std::string what;
  std::string next;
  bool can_be_raised = false; ///< the hard limit is high enough
};
/// What is wrong with the limit for this fabric; nothing if it is high enough, or `fabric` is empty.
std::optional<LockedMemoryFault> check_locked_memory(const ProcessLimit& limit, const std::string& fabric);

/// "64 KiB", "8 MiB", "unlimited".
std::string describe_bytes(std::uint64_t bytes);

} // namespace hpcml::launch
