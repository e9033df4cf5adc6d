// SPDX-License-Identifier: MIT
// /proc/PID/stat as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hpcml::util {

struct ProcessStat {
  std::int64_t pid = 0;
  std::string name = {}; ///< may hold spaces and parentheses
  char state = '?';
  std::int64_t parent = 0;
  int status = 0; ///< as waitpid has it, of a process that has ended and is not waited for yet

  bool has_ended() const { return state == 'Z' || state == 'X'; }
};

std::optional<ProcessStat> parse_process_stat(std::string_view text);
/// The process's; nothing if it does not exist any more.
std::optional<ProcessStat> read_process_stat(std::int64_t pid);

} // namespace hpcml::util
