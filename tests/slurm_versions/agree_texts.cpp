// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "agree_part.hpp"

namespace hpcml::agree {

std::string memory_text(std::uint64_t mb) {
  if (mb == 0) return "0";
  double number = static_cast<double>(mb);
  std::size_t unit = 0;
  while (number >= 1024 && unit < 3 && static_cast<std::uint64_t>(number) % 512 == 0) {
    number /= 1024;
    ++unit;
  }
  const auto whole = static_cast<std::uint64_t>(number);
  const std::string digits =
      static_cast<double>(whole) == number ? fmt::format("{}", whole) : fmt::format("{:.2f}", number);
  return digits + "MGTP"[unit];
}

std::string time_text(const slurm::TimeLimit& limit) {
  if (!limit.minutes) return "UNLIMITED";
  const auto m = *limit.minutes;
  const std::string clock = fmt::format("{:02}:{:02}:00", m / 60 % 24, m % 60);
  return m >= 1440 ? fmt::format("{}-{}", m / 1440, clock) : clock;
}

std::string index_text(const std::vector<unsigned>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(indices[i]);
    if (last > i) text += "-" + std::to_string(indices[last]);
    i = last + 1;
  }
  return text;
}

} // namespace hpcml::agree
