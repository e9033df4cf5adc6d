// SPDX-License-Identifier: MIT
#include "slurm/version.hpp"

namespace hpcml::slurm {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "24.05" of "24.05.3"; empty where the text does not begin with a series.
std::string_view series_of(std::string_view text) {
  const bool series = text.size() >= 5 && is_digit(text[0]) && is_digit(text[1]) && text[2] == '.' &&
                      is_digit(text[3]) && is_digit(text[4]) && (text.size() == 5 || !is_digit(text[5]));
  return series ? text.substr(0, 5) : std::string_view();
}

} // namespace

std::optional<Version> parse_version(std::string_view text) {
  const auto series = series_of(text);
  if (series.empty() || series < k_version_names.front()) return std::nullopt;
  std::size_t index = 0;
  while (index + 1 < k_version_names.size() && k_version_names[index + 1] <= series) ++index;
  return static_cast<Version>(index);
}

bool is_in_range(std::string_view range, Version version) {
  if (range.empty()) return true;
  const auto name = name_of(version);
  while (!range.empty()) {
    const auto part = range.substr(0, range.find(','));
    range.remove_prefix(part.size() == range.size() ? range.size() : part.size() + 1);
    const auto dash = part.find('-');
    const auto first = part.substr(0, dash);
    const auto last = dash == std::string_view::npos ? first : part.substr(dash + 1);
    if (first <= name && (last.empty() || name <= last)) return true;
  }
  return false;
}

} // namespace hpcml::slurm
