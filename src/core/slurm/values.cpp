// SPDX-License-Identifier: MIT
#include "core/slurm/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <set>

#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

bool all_digits(string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::uint64_t> digits(string_view text) {
  std::uint64_t value = 0;
  if (!all_digits(text)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

/// "HH:MM:SS" and its shorter forms after a day; the numbers from the left.
std::optional<std::vector<std::uint64_t>> colon_numbers(string_view text, std::size_t most) {
  std::vector<std::uint64_t> numbers;
  for (const auto& part : util::split(std::string(text), ':')) {
    const auto number = digits(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() > most) return std::nullopt;
  return numbers;
}

/// sbatch counts seconds in signed 32 bits, rounds them up there and hands the minutes on as unsigned ones; 0
/// and the highest two mean no limit.
TimeLimit to_limit(std::int64_t seconds) {
  const auto minutes = static_cast<std::int32_t>(static_cast<std::uint32_t>(seconds) + 59U) / 60;
  if (minutes == 0 || minutes == -1 || minutes == -2) return {};
  return {static_cast<std::uint32_t>(minutes), static_cast<std::uint64_t>(seconds)};
}

std::int64_t seconds_of(std::uint64_t days, std::uint64_t hours, std::uint64_t minutes,
                        std::uint64_t seconds) {
  return static_cast<std::int64_t>(((days * 24 + hours) * 60 + minutes) * 60 + seconds);
}

} // namespace

std::optional<TimeLimit> parse_time_limit(string_view text) {
  const std::string lower = util::to_lower(text);
  if (lower == "unlimited" || lower == "infinite" || lower == "-1") return TimeLimit{};
  const auto dash = text.find('-');
  if (dash == 0) { // a negative number of days, and a limit of thousands of years
    const auto days = digits(text.substr(1));
    return days ? std::optional(to_limit(-seconds_of(*days, 0, 0, 0))) : std::nullopt;
  }
  if (dash != string_view::npos) {
    const auto days = digits(text.substr(0, dash));
    if (!days) return std::nullopt;
    std::array<std::uint64_t, 3> clock{};
    if (dash + 1 < text.size()) {
      const auto numbers = colon_numbers(text.substr(dash + 1), 3);
      if (!numbers) return std::nullopt;
      std::copy(numbers->begin(), numbers->end(), clock.begin());
    }
    return to_limit(seconds_of(*days, clock[0], clock[1], clock[2]));
  }
  const auto numbers = colon_numbers(text, 3);
  if (!numbers) return std::nullopt;
  const auto& n = *numbers;
  if (n.size() == 1) return to_limit(seconds_of(0, 0, n[0], 0));
  if (n.size() == 2) return to_limit(seconds_of(0, 0, n[0], n[1]));
  return to_limit(seconds_of(0, n[0], n[1], n[2]));
}

std::optional<std::uint64_t> parse_memory_mb(string_view text) {
  // As strtoll: spaces and a sign first; "-0" is a number, "-1" is none for memory.
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = digits(text.substr(0, end));
  if (!number || (negative && *number > 0)) return std::nullopt;
  const std::string unit = util::to_lower(text.substr(end));
  if (unit.empty()) return number;
  if (unit.size() > 2 || (unit.size() == 2 && unit[1] != 'b')) return std::nullopt;
  switch (unit[0]) {
  case 'k': return (*number + 1023) / 1024;
  case 'm': return number;
  case 'g': return *number * 1024;
  case 't': return *number * 1024 * 1024;
  default: return std::nullopt;
  }
}

std::optional<long> parse_count(string_view text, long least) {
  const auto start = text.find_first_not_of(" \t");
  if (start == string_view::npos) return std::nullopt;
  text.remove_prefix(start);
  const bool plus = text.front() == '+';
  long value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + (plus ? 1 : 0), end, value);
  if (error != std::errc{} || stop != end || value < least || value > 0x7fffffffL) return std::nullopt;
  return value;
}

namespace {

/// strtol's number, then k, then m, then spaces; -1 where there is none or it is too large.
std::optional<long> node_number(const std::string& text) {
  char* end = nullptr;
  long number = std::strtol(text.c_str(), &end, 10);
  if (end == text.c_str()) return util::trim(text).empty() ? std::optional<long>(-1) : std::nullopt;
  if (*end == 'k' || *end == 'K') number *= 1024, ++end;
  if (*end == 'm' || *end == 'M') number *= 1024L * 1024, ++end;
  if (!util::trim(end).empty()) return std::nullopt;
  return number < 0 || number > 0x7fffffffL ? -1 : number;
}

std::optional<NodeCount> node_range(const std::string& text) {
  const auto dash = text.find('-');
  if (dash == std::string::npos) {
    const auto number = node_number(text);
    if (!number || *number < 0) return std::nullopt;
    return NodeCount{*number, *number, false, {}};
  }
  auto min = node_number(text.substr(0, dash));
  const auto max = node_number(text.substr(dash + 1));
  if (min && *min < 0) min = 1;
  if (!min || !max || (*max != 0 && *max < *min)) return std::nullopt;
  return NodeCount{*min, *max, false, {}};
}

constexpr long k_most_listed_nodes = 16384; // from 24.11, and enough for earlier ones

/// The numbers of "1,3,5-7", where an empty piece is 0.
std::set<long> listed_counts(const std::string& text) {
  std::set<long> counts;
  for (const auto& piece : util::split(text, ',')) {
    const auto dash = piece.rfind('-');
    const long last = std::atol(dash == std::string::npos ? piece.c_str() : piece.c_str() + dash + 1);
    const auto before = dash == std::string::npos ? dash : piece.rfind('-', dash - 1);
    const long first = dash == std::string::npos ? last
                       : dash == 0               ? 0
                                   : std::atol(piece.substr(before + 1, dash - before - 1).c_str());
    for (long i = first; i <= last; ++i) counts.insert(i);
  }
  return counts;
}

/// The numbers of "FIRST-END:STEP", without the end.
std::optional<std::set<long>> stepped_counts(const std::string& text) {
  char* at = nullptr;
  const long first = std::strtol(text.c_str(), &at, 10);
  if (*at != '-') return std::nullopt;
  const long end = std::strtol(at + 1, &at, 10);
  if (*at != ':') return std::nullopt;
  const long step = std::strtol(at + 1, &at, 10);
  if (*at != '\0' || end < first || step <= 0) return std::nullopt;
  std::set<long> counts;
  for (long i = first; i < end; i += step) counts.insert(i);
  return counts;
}

} // namespace

std::optional<NodeCount> parse_node_count(string_view value, ComparisonTrackingVersion version) {
  const std::string text(value);
  const bool list = text.find_first_of(",:") != std::string::npos;
  if (!list || version < Version::v23_02) return node_range(text);
  for (const auto& piece : util::split(util::replace_all(util::replace_all(text, "-", ","), ":", ","), ',')) {
    char* end = nullptr;
    const long number = std::strtol(piece.c_str(), &end, 10);
    if (!piece.empty() && (end == piece.c_str() || *end != '\0' || number >= k_most_listed_nodes))
      return std::nullopt;
  }
  const bool steps = text.find(':') != std::string::npos;
  if (text.front() == ',') return NodeCount{-1, -1, false, {}};
  const auto counts = steps ? stepped_counts(text) : std::optional(listed_counts(text));
  if (!counts || counts->empty()) return std::nullopt;
  NodeCount result{*counts->begin(), *counts->rbegin(), counts->size() > 1, {}};
  result.counts.assign(counts->begin(), counts->end());
  return result;
}

namespace {

/// strtol's number, then k or m.
std::optional<long> geometry_number(const char*& at, long least) {
  char* end = nullptr;
  const long number = std::strtol(at, &end, 10);
  at = end;
  const long factor = *at == 'k' || *at == 'K' ? 1024 : *at == 'm' || *at == 'M' ? 1024 * 1024 : 1;
  if (factor > 1) ++at;
  if ((*at != '\0' && *at != '-') || number < least || number > 0x7fffffffL / factor) return std::nullopt;
  return number * factor;
}

} // namespace

std::optional<std::array<std::optional<long>, 3>> parse_geometry(string_view text) {
  std::array<std::optional<long>, 3> numbers;
  const auto parts = util::split(std::string(text), ':');
  // What follows the third part is passed over, as is a maximum once it is one.
  for (std::size_t i = 0; i < std::min(parts.size(), numbers.size()); ++i) {
    if (parts[i].empty() || parts[i][0] == '*') continue;
    const char* at = parts[i].c_str();
    numbers[i] = geometry_number(at, 0);
    if (!numbers[i] || (*at == '-' && !geometry_number(++at, 1))) return std::nullopt;
  }
  return numbers;
}

namespace {

/// A number as strtol takes it, or a name, with or without SIG and spaces around it; empty for none.
std::string signal_name(const std::string& text, ComparisonTrackingVersion version) {
  static constexpr string_view names[] = {"HUP",  "INT", "QUIT", "ABRT", "KILL", "ALRM", "TERM", "USR1",
                                          "USR2", "URG", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "XCPU"};
  char* end = nullptr;
  const auto number = static_cast<std::uint16_t>(std::strtol(text.c_str(), &end, 10));
  if (end != text.c_str())
    return number > 0 && util::trim(end).empty() ? std::to_string(number) : std::string();
  std::string name(util::trim(text));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  if (name.starts_with("SIG")) name = name.substr(3);
  const bool known = std::find(std::begin(names), std::end(names), name) != std::end(names) ||
                     ((name == "CHLD" || name == "PIPE") && version >= Version::v23_11);
  return known ? name : std::string();
}

} // namespace

std::optional<SignalSpec> parse_signal(string_view text, ComparisonTrackingVersion version) {
  SignalSpec spec;
  const auto take = [&](string_view letters) {
    const bool has_letter = !text.empty() && letters.find(text.front()) != string_view::npos;
    if (has_letter) text.remove_prefix(1);
    return has_letter;
  };
  // R, B, and R again where it is after B; their colon may be missing.
  spec.at_reservation = take("rR");
  spec.to_batch_shell = take("bB");
  spec.at_reservation = take("rR") || spec.at_reservation;
  (void)take(":");
  const auto at = text.find('@');
  spec.signal = signal_name(std::string(text.substr(0, at)), version);
  if (spec.signal.empty()) return std::nullopt;
  if (at == string_view::npos) return spec;
  const std::string rest(text.substr(at + 1));
  char* end = nullptr;
  const long seconds = std::strtol(rest.c_str(), &end, 10);
  if (*end != '\0' || seconds < 0 || seconds > 65535) return std::nullopt;
  spec.seconds = static_cast<unsigned>(seconds);
  return spec;
}

std::optional<std::vector<std::string>> parse_mail_types(string_view text) {
  static const std::vector<std::string> order = {
      "ARRAY_TASKS", "INVALID_DEPEND", "BEGIN",         "END",           "FAIL",      "REQUEUE",
      "STAGE_OUT",   "TIME_LIMIT_50",  "TIME_LIMIT_80", "TIME_LIMIT_90", "TIME_LIMIT"};
  std::set<std::string> given_types;
  bool none = false;
  for (const auto& part : util::split(std::string(text), ',')) {
    if (part.empty()) continue;
    const std::string lower = util::to_lower(part);
    const auto found = std::find_if(order.begin(), order.end(),
                                    [&](const std::string& name) { return util::to_lower(name) == lower; });
    if (lower == "none")
      none = true;
    else if (lower == "all")
      given_types.insert({"INVALID_DEPEND", "BEGIN", "END", "FAIL", "REQUEUE", "STAGE_OUT"});
    else if (found != order.end())
      given_types.insert(*found);
    if (none) {
      given_types.clear();
      break;
    }
  }
  // Other words are passed over, unless there is nothing else.
  if (given_types.empty() && !none) return std::nullopt;
  std::vector<std::string> types;
  if (!none)
    std::copy_if(order.begin(), order.end(), std::back_inserter(types),
                 [&](const std::string& name) { return given_types.count(name) > 0; });
  return types;
}

} // namespace hpcml::slurm
