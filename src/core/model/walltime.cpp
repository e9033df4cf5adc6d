// SPDX-License-Identifier: MIT
#include "core/model/walltime.hpp"

#include <fmt/format.h>
#include <vector>

#include "core/util/text.hpp"

namespace hpcml::model {

namespace {

using Seconds = std::chrono::seconds;
constexpr unsigned long long k_max_field = 1'000'000'000;

util::Error not_a_time(std::string_view text) {
  return util::Error{fmt::format("'{}' is not a valid time limit", text),
                     "use minutes (90), HH:MM:SS (01:30:00), D-HH:MM:SS (2-00:00:00) or 48h, 30m, 2d"};
}

/// Slurm's own forms: [D-]H[:M[:S]] with days, [H:]M[:S] without.
std::optional<Seconds> parse_slurm(std::string_view text) {
  std::optional<unsigned long long> days;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    days = util::parse_unsigned(text.substr(0, dash));
    if (!days || *days > k_max_field) return std::nullopt;
    text.remove_prefix(dash + 1);
    if (text.empty()) return Seconds(*days * 86400); // "1-" is one day
  }
  std::vector<unsigned long long> fields;
  for (const auto& piece : util::split(text, ':')) {
    const auto field = util::parse_unsigned(piece);
    if (!field || *field > k_max_field) return std::nullopt;
    fields.push_back(*field);
  }
  if (fields.size() > 3) return std::nullopt;
  unsigned long long hours = 0, minutes = 0, seconds = 0;
  if (days) { // D-H, D-H:M, D-H:M:S
    hours = fields[0];
    if (fields.size() > 1) minutes = fields[1];
    if (fields.size() > 2) seconds = fields[2];
  } else if (fields.size() == 3) {
    hours = fields[0], minutes = fields[1], seconds = fields[2];
  } else {
    minutes = fields[0];
    if (fields.size() == 2) seconds = fields[1];
  }
  return Seconds(days.value_or(0) * 86400 + hours * 3600 + minutes * 60 + seconds);
}

} // namespace

std::optional<Seconds> parse_units(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Seconds total{0};
  long previous = 1'000'000;
  while (!text.empty()) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == std::string_view::npos || digits == 0) return std::nullopt;
    const auto count = util::parse_unsigned(text.substr(0, digits));
    long unit = 0;
    switch (text[digits]) {
    case 'd': unit = 86400; break;
    case 'h': unit = 3600; break;
    case 'm': unit = 60; break;
    case 's': unit = 1; break;
    default: return std::nullopt;
    }
    if (!count || *count > k_max_field || unit >= previous) return std::nullopt;
    total += Seconds(static_cast<long long>(*count) * unit);
    previous = unit;
    text.remove_prefix(digits + 1);
  }
  return total;
}

util::Result<Walltime> Walltime::parse(std::string_view text) {
  const auto trimmed = util::trim(text);
  const auto lower = util::to_lower(trimmed);
  if (lower == "unlimited" || lower == "infinite" || lower == "-1")
    return util::Error{fmt::format("the time limit '{}' is not accepted: a job needs a finite one", trimmed),
                       "set the longest time that the job may take, for example 12:00:00"};
  const bool has_unit =
      !lower.empty() && std::string_view("dhms").find(lower.back()) != std::string_view::npos;
  const auto seconds = has_unit ? parse_units(lower) : parse_slurm(trimmed);
  if (!seconds || trimmed.empty()) return not_a_time(text);
  if (seconds->count() == 0)
    return util::Error{"the time limit 0 is not accepted: it means \"unlimited\" to Slurm",
                       "set the longest time that the job may take, for example 12:00:00"};
  return Walltime(*seconds);
}

util::Result<LeadTime> LeadTime::parse(std::string_view text) {
  if (const auto time = Walltime::parse(text)) return LeadTime(*time);
  return util::Error{fmt::format("\"{}\" is not a valid time to save before the time limit", text),
                     "use --save-before 90s, 5m or 1h (a bare number is minutes)"};
}

std::string Walltime::to_slurm() const {
  const auto total = x_seconds.count();
  const auto clock = fmt::format("{:02}:{:02}:{:02}", total % 86400 / 3600, total % 3600 / 60, total % 60);
  return total >= 86400 ? fmt::format("{}-{}", total / 86400, clock) : clock;
}

} // namespace hpcml::model
