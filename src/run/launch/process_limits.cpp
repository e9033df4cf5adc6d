// SPDX-License-Identifier: MIT
#include "run/launch/process_limits.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <sys/resource.h>
#include <utility>

#include "core/topo/live_files.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

namespace {

std::uint64_t from_kernel(rlim_t value) { return value == RLIM_INFINITY ? Limit::k_unlimited : value; }
rlim_t to_kernel(std::uint64_t value) { return value == Limit::k_unlimited ? RLIM_INFINITY : value; }

Limit read_limit(decltype(RLIMIT_NOFILE) resource) {
  rlimit found{};
  if (::getrlimit(resource, &found) != 0) return {};
  return {from_kernel(found.rlim_cur), from_kernel(found.rlim_max)};
}

void apply_limit(decltype(RLIMIT_NOFILE) resource, const Limit& limit) {
  const rlimit wanted{to_kernel(limit.soft), to_kernel(limit.hard)};
  (void)::setrlimit(resource, &wanted);
}

} // namespace

ProcessLimits read_limits() { return {read_limit(RLIMIT_MEMLOCK), read_limit(RLIMIT_NOFILE)}; }

std::string locking_fabric_of(const std::string& description) {
  const auto text = util::to_lower(description);
  constexpr std::array<std::string_view, 4> k_fabrics = {"infiniband", "roce", "omni-path", "omnipath"};
  const bool locks = std::any_of(k_fabrics.begin(), k_fabrics.end(),
                                 [&](auto name) { return text.find(name) != std::string::npos; });
  return locks ? description.substr(0, description.find_first_of(",;:")) : std::string();
}

std::string read_locking_fabric(const std::filesystem::path& root) {
  const auto devices = root / "sys/class/infiniband";
  std::string fabric;
  for (const auto& name : topo::entries(devices)) {
    if (!topo::read_line(devices / name / "ports/1/state").ends_with("ACTIVE")) continue;
    if (topo::read_line(devices / name / "ports/1/link_layer") != "Ethernet")
      return name.starts_with("hfi1") ? "Omni-Path" : "InfiniBand";
    fabric = "RoCE";
  }
  return fabric;
}

ProcessLimits raise_limits(const ProcessLimits& limits) {
  ProcessLimits raised = limits;
  raised.locked_memory.soft = limits.locked_memory.hard;
  raised.open_files.soft =
      std::max(limits.open_files.soft, std::min(limits.open_files.hard, k_enough_open_files));
  return raised;
}

std::optional<LockedMemoryFault> check_locked_memory(const Limit& limit, const std::string& fabric) {
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

void apply_limits(const ProcessLimits& limits) {
  apply_limit(RLIMIT_MEMLOCK, limits.locked_memory);
  apply_limit(RLIMIT_NOFILE, limits.open_files);
}

std::string describe_bytes(std::uint64_t bytes) {
  if (bytes == Limit::k_unlimited) return "unlimited";
  for (const auto& [size, unit] : {std::pair{std::uint64_t{1} << 30, " GiB"},
                                   {std::uint64_t{1} << 20, " MiB"},
                                   {std::uint64_t{1} << 10, " KiB"}})
    if (bytes >= size && bytes % size == 0) return std::to_string(bytes / size) + unit;
  return std::to_string(bytes) + " B";
}

} // namespace hpcml::launch
