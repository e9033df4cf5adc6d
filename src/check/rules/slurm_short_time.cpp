// SPDX-License-Identifier: MIT
// Limits of minutes and seconds that were probably meant as hours and minutes.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_short_time {

/// Minutes that users mean as hours.
constexpr std::array<unsigned long long, 5> k_hours = {24, 36, 48, 72, 96};

bool is_odd(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || text.find_first_of(":-", colon + 1) != std::string::npos ||
      text.find('-') != std::string::npos)
    return false;
  const auto minutes = util::parse_unsigned(text.substr(0, colon));
  const auto seconds = util::parse_unsigned(text.substr(colon + 1));
  if (!minutes || !seconds) return false;
  if (*minutes == 0 && *seconds == 0) return false; // no limit
  // "19:59" is meant as a second less than 20 minutes, "23:59" as a minute less than a day.
  constexpr std::array<unsigned long long, 7> c_round = {5, 10, 15, 20, 30, 45, 60};
  if (*seconds == 59 && std::find(c_round.begin(), c_round.end(), *minutes + 1) != c_round.end())
    return false;
  return *seconds != 0 || std::find(k_hours.begin(), k_hours.end(), *minutes) != k_hours.end();
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& request : subject.requests) {
    const auto text = request.text("time");
    if (!is_odd(text)) continue;
    const auto limit = request.times.find("time");
    if (limit == request.times.end() || !limit->second.minutes || request.place("time").length == 0) continue;
    const auto minutes = *limit->second.minutes;
    hits.push_back(
        {request.place("time"),
         fmt::format("{} is MINUTES:SECONDS, so the limit is {}", text, util::counted(minutes, "minute")),
         fmt::format("use {}:00 for hours and minutes, or only the minutes", text)});
    break;
  }
  return hits;
}

} // namespace slurm_short_time

Rule rule_slurm_short_time() {
  using namespace slurm_short_time;
  return {
      .id = "slurm/short-time",
      .severity = diag::Severity::warning,
      .title = "Time limit in minutes and seconds",
      .why = "Two numbers are minutes and seconds to Slurm: --time=0:45 is one minute, --time=24:00 is 24 "
             "minutes. The job starts, "
             "runs for that long and is cancelled.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_time",
      .bad = {R"(#!/bin/bash
#SBATCH --time=0:45
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=30:00
)"},
      .find = find,
      .yields_to = {{"slurm/foreign-directive"}},
  };
}

} // namespace hpcml::check
