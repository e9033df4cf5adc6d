// SPDX-License-Identifier: MIT
// Slurm's time limits.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/util/result.hpp"

namespace hpcml::model {

/// "2d", "1h30m", "0s": units in falling order, each at most once. Nothing where it is no such time.
std::optional<std::chrono::seconds> parse_units(std::string_view text);

/// A time limit in whole seconds. Read as Slurm reads it: "90" is minutes, "MM:SS", "HH:MM:SS", "D-H",
/// "D-H:M", "D-H:M:S". For users also "48h", "30m", "2d", "1h30m" (Slurm refuses these; they are rendered in
/// its form). "UNLIMITED" and 0 are refused: a job without a limit is never what a site with limits requires.
class Walltime {
public:
  /// No time at all; parse() never gives it.
  Walltime() = default;
  static util::Result<Walltime> parse(std::string_view text);
  static Walltime of(std::chrono::seconds seconds) { return Walltime(seconds); }
  std::chrono::seconds seconds() const { return x_seconds; }
  /// "00:10:00", with days "2-00:00:00".
  std::string to_slurm() const;
  auto operator<=>(const Walltime&) const =
      default; // NOLINT(modernize-use-nullptr): clang-tidy 14 looks into the comparison that it makes

private:
  explicit Walltime(std::chrono::seconds seconds) : x_seconds(seconds) {}
  std::chrono::seconds x_seconds{};
};

/// This long before a time limit, written as one.
class LeadTime : public Walltime {
public:
  LeadTime() = default;
  explicit LeadTime(const Walltime& time) : Walltime(time) {}
  static util::Result<LeadTime> parse(std::string_view text);
};

} // namespace hpcml::model
