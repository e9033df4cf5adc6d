// SPDX-License-Identifier: MIT
#include "run/resolve/process_limits.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "core/util/text.hpp"

namespace hpcml::launch {

std::string locking_fabric_of(const std::string& description) {
  const auto text = util::to_lower(description);
  constexpr std::array<std::string_view, 4> k_fabrics = {"infiniband", "roce", "omni-path", "omnipath"};
  const bool locks = std::any_of(k_fabrics.begin(), k_fabrics.end(),
                                 [&](auto name) { return text.find(name) != std::string::npos; });
  return locks ? description.substr(0, description.find_first_of(",;:")) : std::string();
}

ProcessLimits raise_limits(const ProcessLimits& limits) {
  ProcessLimits raised = limits;
  raised.locked_memory.soft = limits.locked_memory.hard;
  raised.open_files.soft =
      std::max(limits.open_files.soft, std::min(limits.open_files.hard, k_enough_open_files));
  return raised;
}

std::optional<LockedMemoryFault> check_locked_memory(const ProcessLimit& limit, const std::string& fabric) {
  if (fabric.empty() || limit.soft >= k_enough_locked_memory) return std::nullopt;
  LockedMemoryFault fault;
  fault.can_be_raised = limit.hard >= k_enough_locked_memory;
  if (fault.can_be_raised) {
    fault.what =
        fmt::format("locked memory is limited to {} (ulimit -l), but {} requires more; the hard limit is {}",
                    describe_bytes(limit.soft), fabric, describe_bytes(limit.hard));
    fault.next = "use hpcml launch, which raises it, or set ulimit -l unlimited in the script (or use "
                 "sbatch --propagate=NONE)";
  } else {
    fault.what =
        fmt::format("locked memory is limited to {} (ulimit -Hl), but {} requires more: NCCL and MPI cannot "
                    "register their buffers",
                    describe_bytes(limit.hard), fabric);
    fault.next = "request a higher LimitMEMLOCK of slurmd from the site";
  }
  return fault;
}

std::string describe_bytes(std::uint64_t bytes) {
  if (bytes == ProcessLimit::k_unlimited) return "unlimited";
  for (const auto& [size, unit] : {std::pair{std::uint64_t{1} << 30, " GiB"},
                                   {std::uint64_t{1} << 20, " MiB"},
                                   {std::uint64_t{1} << 10, " KiB"}})
    if (bytes >= size && bytes % size == 0) return std::to_string(bytes / size) + unit;
  return std::to_string(bytes) + " B";
}

} // namespace hpcml::launch
