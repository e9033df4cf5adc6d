// SPDX-License-Identifier: MIT
#include "core/util/date.hpp"

#include <ctime>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::util {

std::string today(const EnvSnapshot& env) {
  std::time_t now = std::time(nullptr);
  if (const auto fixed = parse_unsigned(env.get_or("SOURCE_DATE_EPOCH", ""));
      fixed && *fixed < 253402300800ULL)
    now = static_cast<std::time_t>(*fixed);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

} // namespace hpcml::util
