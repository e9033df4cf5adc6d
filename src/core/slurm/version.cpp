// SPDX-License-Identifier: MIT
#include "core/slurm/version.hpp"

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

} // namespace hpcml::slurm
