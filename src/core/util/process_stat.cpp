// SPDX-License-Identifier: MIT
#include "core/util/process_stat.hpp"

#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::util {

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const auto open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const auto pid = parse_unsigned(trim(text.substr(0, open)));
  const auto words = split(trim(text.substr(close + 1)), ' ');
  if (!pid || words.size() < 2 || words[0].size() != 1) return std::nullopt;
  constexpr std::size_t k_exit_code = 49; // field 52 of proc(5); the first of `words` is the third
  ProcessStat stat;
  stat.pid = static_cast<std::int64_t>(*pid);
  stat.name = text.substr(open + 1, close - open - 1);
  stat.state = words[0][0];
  stat.parent = static_cast<std::int64_t>(parse_unsigned(words[1]).value_or(0));
  if (stat.has_ended() && words.size() > k_exit_code)
    stat.status = static_cast<int>(parse_unsigned(words[k_exit_code]).value_or(0));
  return stat;
}

std::optional<ProcessStat> read_process_stat(std::int64_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
  return text ? parse_process_stat(*text) : std::nullopt;
}

} // namespace hpcml::util
