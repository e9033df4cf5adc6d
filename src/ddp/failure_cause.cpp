// SPDX-License-Identifier: MIT
#include "ddp/failure_cause.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <sstream>

#include "ddp/format_message.hpp"

namespace hpcml::ddp {

namespace {

/// Where each rank does what it should.
FailureCause nobody() { return {{}, "all ranks are alive and take part, but the operation does not finish"}; }

using State = RankReport::State;

constexpr std::size_t k_named_ranks = 8; ///< more are counted

/// "rank 3 (nid002)", "ranks 4 and 5 (nid002)", "ranks 1, 2 and 7 more".
std::string name_ranks(const std::vector<int>& ranks, const std::vector<std::string>& hosts) {
  std::vector<std::string> places;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < k_named_ranks; ++i) {
    const bool last = i + 1 == ranks.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(ranks[i]);
    const auto& host = hosts.at(static_cast<std::size_t>(ranks[i]));
    if (!host.empty() && std::find(places.begin(), places.end(), host) == places.end())
      places.push_back(host);
  }
  if (ranks.size() > k_named_ranks) text += format_message(" and {} more", ranks.size() - k_named_ranks);
  for (std::size_t i = 0; i < places.size(); ++i)
    text += (i == 0 ? " (" : ", ") + places[i] + (i + 1 == places.size() ? ")" : "");
  return text;
}

/// A report's words hold no spaces, and are never empty.
std::string word(const std::string& text) { return text.empty() ? "-" : text; }

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  return text;
}

template <class Wanted>
std::vector<int> ranks_where(const std::vector<std::optional<RankReport>>& reports, const Wanted& wanted) {
  std::vector<int> found;
  for (std::size_t rank = 0; rank < reports.size(); ++rank)
    if (wanted(reports[rank])) found.push_back(static_cast<int>(rank));
  return found;
}

const char* is_or_are(const std::vector<int>& ranks) { return ranks.size() == 1 ? "is" : "are"; }
const char* has_or_have(const std::vector<int>& ranks) { return ranks.size() == 1 ? "has" : "have"; }

/// Returns the ranks that have begun the fewest operations, if others have begun more.
FailureCause cause_who_is_behind(const std::vector<std::optional<RankReport>>& reports,
                                 const std::vector<std::string>& hosts) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
  const RankReport* furthest = nullptr;
  for (const auto& report : reports) {
    least = std::min(least, report->operations);
    if (furthest == nullptr || report->operations > most) furthest = &*report;
    most = std::max(most, report->operations);
  }
  if (least == most) return nobody();
  const auto behind = ranks_where(reports, [&](const auto& report) { return report->operations == least; });
  const auto& first = *reports[static_cast<std::size_t>(behind.front())];
  const auto state = first.state == State::waiting
                         ? format_message("in {}, operation {}", first.operation, first.operations)
                         : format_message("busy elsewhere for {}", seconds_text(first.seconds));
  return {behind, format_message("{} {} not reached {}, operation {}, but {} {}", name_ranks(behind, hosts),
                                 has_or_have(behind), furthest->operation, most, is_or_are(behind), state)};
}

/// Returns the ranks that this rank waits for: its peer, or those that have not begun its operation.
std::vector<int> waits_for(const std::vector<std::optional<RankReport>>& reports, std::size_t rank) {
  const auto& own = *reports[rank];
  if (own.state != State::waiting) return {};
  if (own.exchange.is_exchange())
    return static_cast<std::size_t>(own.exchange.peer) < reports.size() ? std::vector<int>{own.exchange.peer}
                                                                        : std::vector<int>{};
  return ranks_where(reports, [&](const auto& report) { return report->operations < own.operations; });
}

std::string text_of_wait(const RankReport& report) {
  if (report.exchange.is_exchange()) return text_of(report.exchange);
  return format_message("{}, operation {}", report.operation, report.operations);
}

/// Returns ranks that wait for each other in a ring, or nothing.
std::vector<int> ring_of_waits(const std::vector<std::optional<RankReport>>& reports, std::size_t start) {
  std::vector<int> path;
  for (int rank = static_cast<int>(start);;) {
    const auto seen = std::find(path.begin(), path.end(), rank);
    if (seen != path.end()) return {seen, path.end()};
    path.push_back(rank);
    const auto next = waits_for(reports, static_cast<std::size_t>(rank));
    if (next.empty()) return {};
    rank = next.front();
  }
}

/// If ranks wait for single others, counts do not show the cause: it is the rank that others wait for and
/// that does not wait itself, or else all ranks of a ring.
FailureCause cause_who_is_waited_for(const std::vector<std::optional<RankReport>>& reports,
                                     const std::vector<std::string>& hosts) {
  for (const auto state : {State::left, State::computing}) {
    std::vector<int> causes;
    std::string first;
    for (std::size_t rank = 0; rank < reports.size(); ++rank)
      for (const int waited_for : waits_for(reports, rank)) {
        if (reports[static_cast<std::size_t>(waited_for)]->state != state) continue;
        if (first.empty()) first = format_message("rank {} waits in {}", rank, text_of_wait(*reports[rank]));
        if (std::find(causes.begin(), causes.end(), waited_for) == causes.end()) causes.push_back(waited_for);
      }
    if (causes.empty()) continue;
    std::sort(causes.begin(), causes.end());
    const auto& report = *reports[static_cast<std::size_t>(causes.front())];
    const auto what = state == State::left ? format_message("{} left", has_or_have(causes))
                                           : format_message("{} busy elsewhere for {}", is_or_are(causes),
                                                            seconds_text(report.seconds));
    return {causes, format_message("{} {}, while {}", name_ranks(causes, hosts), what, first)};
  }
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    auto ring = ring_of_waits(reports, rank);
    if (ring.empty()) continue;
    std::sort(ring.begin(), ring.end());
    std::string waits;
    for (std::size_t i = 0; i < ring.size() && i < k_named_ranks; ++i)
      waits += format_message("{}rank {} in {}", i == 0 ? "" : ", ", ring[i],
                              text_of_wait(*reports[static_cast<std::size_t>(ring[i])]));
    return {ring, format_message("{} wait for each other: {}", name_ranks(ring, hosts), waits)};
  }
  return nobody();
}

} // namespace

std::string text_of(const Operation& operation) {
  if (!operation.is_exchange()) return operation.name;
  return format_message("{} {} rank {} (tag {})", operation.name, operation.name == k_send ? "to" : "from",
                        operation.peer, operation.tag);
}

std::string pack(const RankReport& report) {
  std::ostringstream line;
  line << static_cast<int>(report.state) << ' ' << report.operations << ' ' << report.seconds << ' '
       << word(report.operation) << ' ' << word(report.exchange.name) << ' ' << report.exchange.peer << ' '
       << report.exchange.tag << ' ' << report.why;
  std::string text = line.str();
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

std::optional<RankReport> unpack_report(const std::string& line) {
  std::istringstream words(line);
  RankReport report;
  int state = -1;
  auto& exchange = report.exchange;
  if (!(words >> state >> report.operations >> report.seconds >> report.operation >> exchange.name >>
        exchange.peer >> exchange.tag) ||
      state < 0 || state > static_cast<int>(State::left))
    return std::nullopt;
  report.state = static_cast<State>(state);
  words.get();
  std::getline(words, report.why);
  return report;
}

FailureCause find_missing_ranks(const std::vector<std::optional<RankReport>>& reports,
                                const std::vector<std::string>& hosts) {
  std::vector<int> missing;
  for (std::size_t rank = 0; rank < reports.size(); ++rank)
    if (!reports[rank] && hosts[rank].empty()) missing.push_back(static_cast<int>(rank));
  if (missing.empty()) return find_cause(reports, hosts);
  return {missing, format_message("{} {} not connected", name_ranks(missing, hosts), has_or_have(missing))};
}

FailureCause find_cause(const std::vector<std::optional<RankReport>>& reports,
                        const std::vector<std::string>& hosts) {
  // A rank that failed by itself comes first, because lost ranks may have exited as a consequence.
  const auto failed =
      ranks_where(reports, [](const auto& report) { return report && report->state == State::failed; });
  if (!failed.empty())
    return {failed, format_message("{} failed: {}", name_ranks(failed, hosts),
                                   reports[static_cast<std::size_t>(failed.front())]->why)};
  const auto silent = ranks_where(reports, [](const auto& report) { return !report; });
  if (!silent.empty())
    return {silent, format_message("{} {} lost: no answer", name_ranks(silent, hosts), is_or_are(silent))};
  const bool exchanges = std::any_of(reports.begin(), reports.end(), [](const auto& report) {
    return report->state == State::waiting && report->exchange.is_exchange();
  });
  if (exchanges) return cause_who_is_waited_for(reports, hosts);
  const auto left = ranks_where(reports, [](const auto& report) { return report->state == State::left; });
  if (!left.empty())
    return {left, format_message("{} {} left after operation {}", name_ranks(left, hosts), has_or_have(left),
                                 reports[static_cast<std::size_t>(left.front())]->operations)};
  return cause_who_is_behind(reports, hosts);
}

} // namespace hpcml::ddp
