// SPDX-License-Identifier: MIT
#include "run/launch/cpu_bind.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>

#include "core/topo/check_placement.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

using model::IdSet;
using util::Error;
using util::Result;

Result<IdSet> read_status_cpus(System& system) {
  TRY(const auto text, system.read_file("/proc/self/status"));
  constexpr std::string_view k_name = "Cpus_allowed_list:";
  const auto at = text.find(k_name);
  if (at == std::string::npos)
    return Error{"cannot read the CPUs of this process: /proc/self/status has no Cpus_allowed_list",
                 "use --bind none to start the program without binding"};
  const auto end = text.find('\n', at);
  return IdSet::parse_list(
      util::trim(std::string_view(text).substr(at + k_name.size(), end - at - k_name.size())));
}

util::Status apply_affinity(System& system, const IdSet& cpus) {
  const auto before = system.allowed_cpus();
  if (system.set_affinity(cpus) != 0)
    return Error{fmt::format("cannot bind the rank to {}: {}", topo::cpus_text(cpus), std::strerror(errno)),
                 before ? fmt::format("use --bind none, or request these CPUs: the kernel allows {}",
                                      before->to_list())
                        : "use --bind none to start the program without binding"};
  const auto after = system.allowed_cpus();
  if (after && !(*after == cpus))
    return Error{fmt::format("cannot bind the rank to {}: the kernel granted only {}, because the step's "
                             "cgroup allows no others",
                             topo::cpus_text(cpus), topo::cpus_text(*after)),
                 "request these CPUs for the step (--cpus-per-task), or use --bind none"};
  return util::Success{};
}

void prefer_memory(System& system, const IdSet& nodes) {
  if (nodes.empty()) return;
  // Numbers of <linux/mempolicy.h>; preferred and never bound: a full node then borrows instead of killing
  // the rank.
  constexpr int k_preferred = 1, k_preferred_many = 5;
  if (system.set_mempolicy(k_preferred_many, nodes) != 0)
    system.set_mempolicy(k_preferred, IdSet::of({nodes.first()}));
}

} // namespace hpcml::launch
