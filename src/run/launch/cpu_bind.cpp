// SPDX-License-Identifier: MIT
#include "run/launch/cpu_bind.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/topo/check_placement.hpp"
#include "core/topo/live_node.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

using model::IdSet;
using util::Error;
using util::Result;

namespace {

constexpr std::size_t k_max_cpus = 8192;
using MaskWords = std::vector<unsigned long>;
constexpr unsigned k_bits = 8 * sizeof(unsigned long);

MaskWords to_words(const IdSet& ids, std::size_t bits) {
  MaskWords words(bits / k_bits, 0);
  for (const unsigned id : ids.ids())
    if (id < bits) words[id / k_bits] |= 1UL << (id % k_bits);
  return words;
}

} // namespace

Result<IdSet> read_status_cpus() {
  TRY(const auto text, util::read_file("/proc/self/status"));
  constexpr std::string_view k_name = "Cpus_allowed_list:";
  const auto at = text.find(k_name);
  if (at == std::string::npos)
    return Error{"cannot read the CPUs of this process: /proc/self/status has no Cpus_allowed_list",
                 "use --bind none to start the program without binding"};
  const auto end = text.find('\n', at);
  return IdSet::parse_list(
      util::trim(std::string_view(text).substr(at + k_name.size(), end - at - k_name.size())));
}

util::Status apply_affinity(const IdSet& cpus) {
  const auto before = topo::read_allowed_cpus();
  const auto words = to_words(cpus, k_max_cpus);
  if (::syscall(SYS_sched_setaffinity, 0, words.size() * sizeof words[0], words.data()) != 0)
    return Error{fmt::format("cannot bind the rank to {}: {}", topo::cpus_text(cpus), std::strerror(errno)),
                 before ? fmt::format("use --bind none, or request these CPUs: the kernel allows {}",
                                      before->to_list())
                        : "use --bind none to start the program without binding"};
  const auto after = topo::read_allowed_cpus();
  if (after && !(*after == cpus))
    return Error{fmt::format("cannot bind the rank to {}: the kernel granted only {}, because the step's "
                             "cgroup allows no others",
                             topo::cpus_text(cpus), topo::cpus_text(*after)),
                 "request these CPUs for the step (--cpus-per-task), or use --bind none"};
  return util::Success{};
}

void prefer_memory(const IdSet& nodes) {
  if (nodes.empty()) return;
  // Numbers of <linux/mempolicy.h>; preferred and never bound: a full node then borrows instead of killing
  // the rank.
  constexpr int k_preferred = 1, k_preferred_many = 5;
  constexpr std::size_t k_max_nodes = 1024;
  const auto words = to_words(nodes, k_max_nodes);
  if (::syscall(SYS_set_mempolicy, k_preferred_many, words.data(), k_max_nodes + 1) == 0) return;
  const auto first = to_words(IdSet::of({nodes.first()}), k_max_nodes);
  ::syscall(SYS_set_mempolicy, k_preferred, first.data(), k_max_nodes + 1);
}

} // namespace hpcml::launch
