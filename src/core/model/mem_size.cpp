// SPDX-License-Identifier: MIT
#include "core/model/mem_size.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::model {

util::Result<MemSize> MemSize::parse(std::string_view text) {
  const auto trimmed = util::trim(text);
  const auto digits = std::min(trimmed.find_first_not_of("0123456789"), trimmed.size());
  const auto number = util::parse_unsigned(trimmed.substr(0, digits));
  auto unit = util::to_lower(trimmed.substr(digits));
  const std::string shown(text);
  if (!number)
    return util::Error{fmt::format("the memory size '{}' does not start with a whole number", shown),
                       "use a whole number with K, M, G or T, for example 480G"};
  if (unit.find('.') != std::string::npos)
    return util::Error{fmt::format("the memory size '{}' has a fraction, which Slurm does not accept", shown),
                       "use a smaller unit, for example 1536M for 1.5G"};
  if (unit.size() == 3 && unit.substr(1) == "ib")
    return util::Error{fmt::format("the memory size '{}' has the unit {}, which Slurm does not know", shown,
                                   trimmed.substr(digits)),
                       fmt::format("use {}{}", *number, static_cast<char>(unit[0] - 'a' + 'A'))};
  if (unit.size() == 2 && unit[1] == 'b') unit.pop_back();
  unsigned long long mib = 0;
  constexpr unsigned long long k_most = 1ULL << 40; // an exbibyte: anything above is a typo
  if (*number > k_most)
    return util::Error{fmt::format("the number of the memory size '{}' exceeds {} (limit)", shown, k_most),
                       "use a smaller number with K, M, G or T, for example 480G"};
  if (unit.empty() || unit == "m")
    mib = *number;
  else if (unit == "k")
    mib = (*number + 1023) / 1024;
  else if (unit == "g")
    mib = *number * 1024;
  else if (unit == "t")
    mib = *number * 1024 * 1024;
  else
    return util::Error{fmt::format("the memory size '{}' has an unknown unit", shown), "use K, M, G or T"};
  return MemSize(mib);
}

std::string MemSize::to_slurm() const {
  if (x_mib == 0) return "0";
  return x_mib % 1024 == 0 ? std::to_string(x_mib / 1024) + "G" : std::to_string(x_mib) + "M";
}

} // namespace hpcml::model
