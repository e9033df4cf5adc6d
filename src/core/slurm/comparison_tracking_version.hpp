// SPDX-License-Identifier: MIT
// The version that a text is read as, which remembers for which others the same reading holds.
#pragma once

#include <algorithm>

#include "core/slurm/version.hpp"

namespace hpcml::slurm {

/// Versions from one to another, both among them.
struct VersionSpan {
  Version first = k_oldest_version;
  Version last = k_newest_version;
};

/// A version whose comparisons narrow a span to the versions that would have answered all of them alike: what
/// was read by these answers alone holds for the whole span, and need not be read again for each.
class ComparisonTrackingVersion {
public:
  /// Remembers nothing where no span is given. The span has to hold the version and to outlive this.
  constexpr ComparisonTrackingVersion(Version version, VersionSpan* span = nullptr)
      : x_version(version), x_span(span) {}

  /// The version itself, for words and hints, which need not be alike.
  constexpr Version get() const { return x_version; }

  /// The version's own of one value per version.
  template <typename Value> const Value& pick(const std::array<Value, k_version_names.size()>& values) const {
    const auto own = static_cast<std::size_t>(x_version);
    if (x_span) {
      auto first = own, last = own;
      while (first > 0 && values[first - 1] == values[own]) --first;
      while (last + 1 < values.size() && values[last + 1] == values[own]) ++last;
      narrow(static_cast<Version>(first), static_cast<Version>(last));
    }
    return values[own];
  }

  /// Whether it is in a range as is_in_range has it.
  bool is_in(std::string_view range) const {
    std::array<bool, k_version_names.size()> in;
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = is_in_range(range, static_cast<Version>(i));
    return pick(in);
  }

  friend constexpr bool operator>=(const ComparisonTrackingVersion& as, Version bound) {
    const bool answer = as.x_version >= bound;
    if (answer)
      as.narrow(bound, k_newest_version);
    else
      as.narrow(k_oldest_version, before(bound));
    return answer;
  }
  friend constexpr bool operator<(const ComparisonTrackingVersion& as, Version bound) {
    return !(as >= bound);
  }
  friend constexpr bool operator<=(const ComparisonTrackingVersion& as, Version bound) {
    return bound == k_newest_version || as < after(bound);
  }
  friend constexpr bool operator>(const ComparisonTrackingVersion& as, Version bound) {
    return !(as <= bound);
  }
  friend constexpr bool operator==(const ComparisonTrackingVersion& as, Version other) {
    return as >= other && as <= other;
  }
  friend constexpr bool operator!=(const ComparisonTrackingVersion& as, Version other) {
    return !(as == other);
  }

private:
  static constexpr Version before(Version version) {
    return static_cast<Version>(static_cast<int>(version) - 1);
  }
  static constexpr Version after(Version version) {
    return static_cast<Version>(static_cast<int>(version) + 1);
  }
  constexpr void narrow(Version first, Version last) const {
    if (x_span) *x_span = {std::max(x_span->first, first), std::min(x_span->last, last)};
  }

  Version x_version;
  VersionSpan* x_span;
};

} // namespace hpcml::slurm
