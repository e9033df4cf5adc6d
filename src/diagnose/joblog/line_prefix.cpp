// SPDX-License-Identifier: MIT
// Prefixes of a job's lines: ranks, time stamps, host names, progress bars.
#include <algorithm>
#include <array>
#include <cctype>

#include "core/util/text.hpp"
#include "diagnose/joblog/log_lines.hpp"

namespace hpcml::joblog {

namespace {

/// Removes `part` from the start of the text.
bool remove(std::string_view& text, std::string_view part) {
  if (!text.starts_with(part)) return false;
  text.remove_prefix(part.size());
  return true;
}

/// Removes a number up to a million from the start of the text.
std::optional<unsigned> remove_number(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = util::parse_unsigned(text.substr(0, end));
  if (!number || *number > 1000000) return std::nullopt;
  text.remove_prefix(end);
  return static_cast<unsigned>(*number);
}

/// Removes "[" NAME N END, as "[rank3]:" or "[trainer3|3]:".
std::optional<unsigned> remove_bracketed(std::string_view& text) {
  struct Form {
    std::string_view before, after;
    bool has_role = false; ///< any word before the number
  };
  // torch; Lightning; Open MPI ("[job,rank]<stderr>:"); Horovod and Intel MPI; hpcml; torchrun ("[role
  // rank|local]:").
  static constexpr std::array<Form, 9> k_forms = {{{"[rank", "]:"},
                                                   {"[default", "]:"},
                                                   {"[rank: ", "]"},
                                                   {"[Rank ", "]"},
                                                   {"[", "]<stderr>:"},
                                                   {"[", "]<stdout>:"},
                                                   {"[", "] "},
                                                   {"[", "]: "},
                                                   {"[", "]:", true}}};
  for (const auto& form : k_forms) {
    auto rest = text;
    if (!remove(rest, form.before)) continue;
    if (form.has_role) rest.remove_prefix(std::min(rest.find_first_of("0123456789]"), rest.size()));
    auto rank = remove_number(rest);
    if (!rank) continue;
    if (remove(rest, ",")) rank = remove_number(rest);
    if (form.has_role && rest.starts_with('|')) rest.remove_prefix(std::min(rest.find(']'), rest.size()));
    if (!rank || !remove(rest, form.after)) continue;
    text = rest;
    return rank;
  }
  return std::nullopt;
}

/// Removes a prefix that names a rank, and a space after it.
std::optional<unsigned> remove_rank(std::string_view& text) {
  auto rest = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  auto rank = remove_bracketed(rest);
  if (!rank) { // srun --label
    rank = remove_number(rest);
    if (!rank || !remove(rest, ":") || (!rest.empty() && rest.front() != ' ')) return std::nullopt;
  }
  remove(rest, " ");
  text = rest;
  return rank;
}

/// "2026-01-01", "11:50:15,215", "[11:50:15]", "2026-01-01T11:50:15Z"
bool is_time(std::string_view word) {
  while (word.starts_with('[')) word.remove_prefix(1);
  while (word.ends_with(']')) word.remove_suffix(1);
  if (word.size() < 8 || !is_digit(word.front())) return false;
  const bool is_clock = std::count(word.begin(), word.end(), ':') >= 2;
  const bool is_date = std::count(word.begin(), word.end(), '-') == 2;
  return (is_clock || is_date) && word.find_first_not_of("0123456789:.,-+/TZ") == std::string_view::npos;
}

bool remove_time(std::string_view& text) {
  const auto end = text.find(' ');
  if (end == std::string_view::npos || !is_time(text.substr(0, end))) return false;
  text.remove_prefix(end + 1);
  return true;
}

/// Removes a host's name, and "[stderr]" after it, if a rank follows.
bool remove_host(std::string_view& text) {
  const auto end = text.find(' ');
  if (end == std::string_view::npos || end == 0 || end > 253) return false;
  auto word = text.substr(0, end);
  if (word.ends_with(':')) word.remove_suffix(1);
  const auto is_host_char = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
  };
  // "epoch 3: " names no host: those of clusters have numbers.
  if (!std::all_of(word.begin(), word.end(), is_host_char) ||
      std::none_of(word.begin(), word.end(), is_digit))
    return false;
  auto rest = text.substr(end + 1);
  if (!remove(rest, "[stderr] ")) remove(rest, "[stdout] ");
  auto after = rest;
  if (!remove_rank(after)) return false;
  text = rest;
  return true;
}

/// Removes what tqdm writes: "12%|#   | 3/24 [00:08<01:22,  2.88s/it]".
bool remove_progress(std::string_view& text) {
  for (const std::string_view end : {"it/s]", "s/it]"})
    if (const auto at = text.find(end); at != std::string_view::npos && text.find("%|") < at) {
      text.remove_prefix(at + end.size());
      return true;
    }
  return false;
}

/// Removes the time stamp that Open MPI writes before "[1,3]<stderr>:": "Tue Sep 15 10:11:12 2026".
bool remove_time_of_mpi(std::string_view& text) {
  constexpr std::size_t k_longest = 40;
  const auto mark = text.substr(0, k_longest).find("]<std");
  if (mark == std::string_view::npos) return false;
  const auto begin = text.rfind('[', mark);
  if (begin == std::string_view::npos || begin == 0) return false;
  text.remove_prefix(begin);
  return true;
}

} // namespace

PrefixedLine split_prefix(std::string_view line) {
  constexpr int k_most_prefixes = 8;
  PrefixedLine found{std::nullopt, line};
  auto& text = found.text;
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  if (const auto at = text.rfind('\r'); at != std::string_view::npos) text.remove_prefix(at + 1);
  for (int i = 0; i < k_most_prefixes; ++i) {
    if (const auto rank = remove_rank(text))
      found.rank = rank;
    else if (!remove_time(text) && !remove_time_of_mpi(text) && !remove_host(text) && !remove_progress(text))
      break;
  }
  return found;
}

} // namespace hpcml::joblog
