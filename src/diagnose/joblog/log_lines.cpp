// SPDX-License-Identifier: MIT
#include "diagnose/joblog/log_lines.hpp"

#include <algorithm>
#include <cctype>

#include "core/util/text.hpp"

namespace hpcml::joblog {

namespace {

bool is_host_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
}

/// Reads "HOST:PID:TID" at the end of a word, after a prefix of a launcher ("[1,0]<stdout>:").
bool read_process(std::string_view word, LogLineProcess& writer) {
  const auto second = word.rfind(':');
  if (second == std::string_view::npos || second == 0) return false;
  const auto first = word.rfind(':', second - 1);
  if (first == std::string_view::npos || first == 0) return false;
  const auto pid = util::parse_unsigned(word.substr(first + 1, second - first - 1));
  if (!pid || !util::parse_unsigned(word.substr(second + 1))) return false;
  auto begin = first;
  while (begin > 0 && is_host_char(word[begin - 1])) --begin;
  if (begin == first || first - begin > 253) return false;
  writer.host = std::string(word.substr(begin, first - begin));
  writer.pid = *pid;
  return true;
}

} // namespace

std::optional<unsigned> rank_in_front(std::string_view line) { return split_prefix(line).rank; }

std::optional<NcclLine> parse_nccl_line(std::string_view line) {
  auto at = line.find("NCCL ");
  while (at != std::string_view::npos && !line.substr(at).starts_with("NCCL INFO ") &&
         !line.substr(at).starts_with("NCCL WARN "))
    at = line.find("NCCL ", at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  NcclLine found;
  found.warning = line[at + 5] == 'W';
  found.text = util::trim(line.substr(at + 10));
  found.writer.rank = rank_in_front(line);
  auto before = line.substr(0, at);
  while (!before.empty()) {
    const auto end = std::min(before.find(' '), before.size());
    const auto word = before.substr(0, end);
    before.remove_prefix(std::min(end + 1, before.size()));
    if (!read_process(word, found.writer)) continue;
    const auto next = before.substr(0, before.find(' '));
    if (next.size() > 2 && next.size() < 8 && next.front() == '[' && next.back() == ']')
      found.device = std::string(next.substr(1, next.size() - 2));
    break;
  }
  return found;
}

std::string clipped(std::string_view line) {
  constexpr std::size_t c_most = 300;
  line = util::trim(line);
  return line.size() <= c_most ? std::string(line) : std::string(line.substr(0, c_most)) + " …";
}

} // namespace hpcml::joblog
