// SPDX-License-Identifier: MIT
// Amounts of memory as Slurm writes them.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "core/util/result.hpp"

namespace hpcml::model {

/// An amount in MiB. "480G", "500000M", "64g", "256Gb", "1T", "16384" (MiB); 0 means "all of the node" in
/// Slurm. "1.5G" and "64GiB" are refused by Slurm and therefore here, with the form it takes in the hint.
class MemSize {
public:
  /// 0, "all of the node" in Slurm.
  MemSize() = default;
  static util::Result<MemSize> parse(std::string_view text);
  static MemSize of_mib(unsigned long long mib) { return MemSize(mib); }
  unsigned long long mib() const { return x_mib; }
  /// "480G" when whole GiB, else "500000M"; "0" for zero.
  std::string to_slurm() const;
  auto operator<=>(const MemSize&) const =
      default; // NOLINT(modernize-use-nullptr): clang-tidy 14 looks into the comparison that it makes

private:
  explicit MemSize(unsigned long long mib) : x_mib(mib) {}
  unsigned long long x_mib = 0;
};

} // namespace hpcml::model
