// SPDX-License-Identifier: MIT
// Sets of small numbers (CPUs, cores, GPUs), as Linux and Slurm write them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::model {

/// A set of ids from 0 to 65535 of any layout: holes and interleaving are normal on real nodes.
class IdSet {
public:
  IdSet() = default;
  static IdSet of(const std::vector<unsigned>& ids);
  static IdSet range(unsigned first, unsigned last); ///< both ends included
  /// "0-3,7", as in /sys and cgroups; an empty text is the empty set.
  static util::Result<IdSet> parse_list(std::string_view text);
  /// "0xfe00" or "fe00", any length; also the kernel's comma form "ffffffff,00000000".
  static util::Result<IdSet> parse_mask(std::string_view text);

  void add(unsigned id);
  void remove(unsigned id);
  bool contains(unsigned id) const;
  bool empty() const;
  std::size_t size() const;
  unsigned first() const;            ///< the lowest id; the set must not be empty
  std::vector<unsigned> ids() const; ///< ascending
  std::string to_list() const;       ///< "0-3,7"
  std::string to_mask() const;       ///< "0xfe00": lower case, no padding, any length; "0x0" when empty

  IdSet operator|(const IdSet& other) const;
  IdSet operator&(const IdSet& other) const;
  IdSet operator-(const IdSet& other) const;
  bool is_subset_of(const IdSet& other) const;
  bool intersects(const IdSet& other) const;
  bool operator==(const IdSet& other) const;

private:
  // Nodes have few ids above 255: without them a set does not allocate, and a plan has many sets.
  static constexpr std::size_t k_low = 4;
  std::array<std::uint64_t, k_low> x_low{};
  std::vector<std::uint64_t> x_high; // no trailing zero words

  std::size_t word_count() const { return k_low + x_high.size(); }
  std::uint64_t word(std::size_t i) const {
    return i < k_low ? x_low[i] : i < word_count() ? x_high[i - k_low] : 0;
  }
  template <class Combine> IdSet combined(const IdSet& other, Combine combine) const;
  void shrink();
};

} // namespace hpcml::model
