// SPDX-License-Identifier: MIT
#include "core/topo/memory_policy.hpp"

#include <array>
#include <climits>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

/// A mode by its number in <linux/mempolicy.h> and its name in mm/mempolicy.c; newer ones are not in every
/// header.
struct Mode {
  int number;
  std::string_view name;
  MemoryPolicyMode mode;
};
constexpr std::array k_modes = {Mode{0, "default", MemoryPolicyMode::local},
                                Mode{4, "local", MemoryPolicyMode::local},
                                Mode{5, "prefer (many)", MemoryPolicyMode::preferred},
                                Mode{1, "prefer", MemoryPolicyMode::preferred},
                                Mode{2, "bind", MemoryPolicyMode::bound},
                                Mode{3, "interleave", MemoryPolicyMode::interleaved},
                                Mode{6, "weighted interleave", MemoryPolicyMode::interleaved}};
constexpr int k_flags = 7 << 13; // static and relative numbers, balancing

} // namespace

std::string render_memory(const MemoryPolicy& policy) {
  switch (policy.mode) {
  case MemoryPolicyMode::local: break;
  case MemoryPolicyMode::preferred:
    return fmt::format("memory preferred from NUMA {}", policy.nodes.to_list());
  case MemoryPolicyMode::bound: return fmt::format("memory bound to NUMA {}", policy.nodes.to_list());
  case MemoryPolicyMode::interleaved:
    return fmt::format("memory interleaved over NUMA {}", policy.nodes.to_list());
  }
  return "memory of the NUMA node that the thread runs on";
}

std::optional<MemoryPolicy> parse_numa_maps(std::string_view line) {
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  line.remove_prefix(blank + 1);
  for (const auto& [number, name, mode] : k_modes) {
    if (!line.starts_with(name)) continue;
    auto rest = line.substr(name.size()); // "", " file=…", ":3", "=static:3"
    rest = rest.substr(0, rest.find_first_of(" \n"));
    if (mode == MemoryPolicyMode::local) return MemoryPolicy{};
    const auto colon = rest.find(':');
    const auto nodes = colon == std::string_view::npos ? util::Result<model::IdSet>(util::Error{"no nodes"})
                                                       : model::IdSet::parse_list(rest.substr(colon + 1));
    return nodes ? std::optional(MemoryPolicy{mode, *nodes}) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<MemoryPolicy> read_memory_policy() {
  constexpr unsigned k_bits = CHAR_BIT * sizeof(unsigned long);
  std::array<unsigned long, 4096 / k_bits> words{}; // the kernel refuses fewer bits than it has nodes
  int number = 0;
  if (::syscall(SYS_get_mempolicy, &number, words.data(), words.size() * k_bits, 0UL, 0UL) != 0)
    return std::nullopt;
  for (const auto& known : k_modes) {
    if (known.number != (number & ~k_flags)) continue;
    MemoryPolicy policy{known.mode, {}};
    for (unsigned id = 0; id < words.size() * k_bits && policy.mode != MemoryPolicyMode::local; ++id)
      if (words[id / k_bits] >> (id % k_bits) & 1) policy.nodes.add(id);
    return policy;
  }
  return std::nullopt;
}

} // namespace hpcml::topo
