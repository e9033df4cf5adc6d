// SPDX-License-Identifier: MIT
// Slurm's release series, in order.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hpcml::slurm {

/// A release series whose behaviour was measured, from 20.11 to 26.05.
enum class Version { v20_11, v21_08, v22_05, v23_02, v23_11, v24_05, v24_11, v25_05, v25_11, v26_05 };

/// The oldest and the newest that were measured, and the names of all.
constexpr Version k_oldest_version = Version::v20_11;
constexpr Version k_newest_version = Version::v26_05;
constexpr std::array<std::string_view, 10> k_version_names = {"20.11", "21.08", "22.05", "23.02", "23.11",
                                                              "24.05", "24.11", "25.05", "25.11", "26.05"};

/// "23.11".
constexpr std::string_view name_of(Version version) {
  return k_version_names[static_cast<std::size_t>(version)];
}

/// "23.11" or "23.11.4": its series; a series between or after the measured ones is read as the one before
/// it.
std::optional<Version> parse_version(std::string_view text);

/// Whether `version` is in "[21.08-]", "[-22.05,23.02]" (without the brackets); an empty text holds every
/// version.
constexpr bool is_in_range(std::string_view range, Version version) {
  const auto name = name_of(version);
  bool in = range.empty();
  while (!in && !range.empty()) {
    const auto part = range.substr(0, range.find(','));
    range.remove_prefix(part.size() == range.size() ? range.size() : part.size() + 1);
    const auto dash = part.find('-');
    const auto first = part.substr(0, dash);
    const auto last = dash == std::string_view::npos ? first : part.substr(dash + 1);
    in = first <= name && (last.empty() || name <= last);
  }
  return in;
}

} // namespace hpcml::slurm
