// SPDX-License-Identifier: MIT
// Texts that name a point in time, read as sbatch reads them: from left to right, each part on its own.
#include <cstdlib>

#include "core/slurm/values.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

using std::string_view;

bool is_figure(char c) { return c >= '0' && c <= '9'; }

class MomentReader {
public:
  MomentReader(string_view text, ComparisonTrackingVersion version)
      : x_text(text), x_lower(util::to_lower(x_text)), x_version(version) {}

  std::optional<ScheduledTime> run() {
    if (x_lower.starts_with("uts")) return read_epoch();
    for (; current() != '\0' && current() != '\n'; ++x_at) {
      // A 'T' parts a date from its time; so "Today" is none.
      if (is_blank(current()) || current() == '-' || current() == 'T') continue;
      if (!read_part()) return std::nullopt;
    }
    if (!x_has_date && !x_has_clock) return std::nullopt;
    return x_moment;
  }

private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  char at(std::size_t i) const { return i < x_text.size() ? x_text[i] : '\0'; }
  char current() const { return at(x_at); }
  bool follows(string_view word) const { return x_lower.compare(x_at, word.size(), word) == 0; }

  std::optional<ScheduledTime> read_epoch() const {
    char* end = nullptr;
    const long seconds = std::strtol(x_text.c_str() + 3, &end, 10);
    if (seconds < 1000000 || *end != '\0') return std::nullopt;
    ScheduledTime moment;
    moment.year = static_cast<int>(1970 + seconds / 31556952);
    return moment;
  }

  /// Leaves x_at on the part's last character.
  bool read_part() {
    for (const string_view day : {"today", "tomorrow"})
      if (follows(day)) return x_has_date = true, x_at += day.size() - 1, true;
    for (const string_view hour : {"midnight", "noon", "elevenses", "fika", "teatime"})
      if (follows(hour) && (hour != "elevenses" || x_version >= Version::v24_05))
        return x_has_clock = true, x_at += hour.size() - 1, true;
    if (follows("now")) return read_now();
    if (!is_figure(current())) return false;
    return at(x_at + 1) == ':' || at(x_at + 2) == ':' ? read_clock() : read_date();
  }

  /// "now", and a number of units before or after it.
  bool read_now() {
    x_has_date = x_has_clock = true;
    x_moment.is_from_now = true;
    std::size_t i = x_at + 3;
    while (is_blank(at(i))) ++i;
    if (at(i) == '\0' || at(i) == '\n') return x_at = i - 1, true;
    if (at(i) != '+' && at(i) != '-') return false;
    const bool before = at(i) == '-';
    x_at += i; // further than it is, where something is before "now"
    long long number = 0;
    if (!read_units(number)) return false;
    x_moment.seconds = before ? -number : number;
    return true;
  }

  bool read_units(long long& number) {
    static constexpr std::pair<string_view, long> units[] = {
        {"seconds", 1}, {"second", 1},   {"minutes", 60}, {"minute", 60},    {"hours", 3600},
        {"hour", 3600}, {"days", 86400}, {"day", 86400},  {"weeks", 604800}, {"week", 604800}};
    bool figures = false;
    for (++x_at; current() != '\0' && current() != '\n'; ++x_at) {
      if (is_space(current())) continue;
      if (is_figure(current())) {
        number = (number * 10 + (current() - '0')) % 1000000000000000LL;
        figures = true;
        continue;
      }
      for (const auto& [name, seconds] : units)
        if (follows(name)) return number *= seconds, x_at += name.size() - 1, figures;
      return false;
    }
    --x_at;
    return figures;
  }

  /// One or two figures that make no more than `most`; `least_figures` of them have to exist.
  bool read_number(int most, int least_figures = 1) {
    if (!is_figure(current())) return false;
    x_number = x_text[x_at++] - '0';
    if (is_figure(current()))
      x_number = x_number * 10 + (x_text[x_at++] - '0');
    else if (least_figures == 2)
      return false;
    return x_number <= most;
  }

  /// "HH:MM[:SS] [AM|PM]".
  bool read_clock() {
    if (!read_number(23) || current() != ':') return false;
    const int hour = x_number;
    ++x_at;
    if (!read_number(59, 2)) return false;
    if (current() == ':' && (++x_at, !read_number(59, 2))) return false;
    while (is_space(current())) ++x_at;
    if (follows("am") || follows("pm")) {
      if (hour > 12) return false;
      x_at += 2;
    }
    --x_at;
    return x_has_clock = true;
  }

  /// "YYYY-MM-DD", "MMDD[YY]", "MM/DD[/YY]" or with dots.
  bool read_date() {
    x_has_date = true;
    if (x_text.size() >= x_at + 7 && at(x_at + 4) == '-' && at(x_at + 7) == '-') {
      for (int i = 0; i < 4; ++i)
        if (!is_figure(at(x_at + static_cast<std::size_t>(i)))) return false;
      x_moment.year = std::atoi(x_text.substr(x_at, 4).c_str());
      x_at += 5;
      if (!read_number(12) || x_number < 1) return false;
      ++x_at;
      return read_number(31) && x_number > 0 && (--x_at, true);
    }
    const auto skip_mark = [&] { x_at += current() == '.' || current() == '/' ? 1 : 0; };
    if (!read_number(12) || x_number < 1) return false;
    skip_mark();
    if (!read_number(31) || x_number < 1) return false;
    skip_mark();
    if (is_figure(current())) {
      if (!read_number(99, 2)) return false;
      x_moment.year = x_number > 0 ? 2000 + x_number : 0;
    }
    --x_at;
    return true;
  }

  std::string x_text;
  std::string x_lower;
  ComparisonTrackingVersion x_version;
  std::size_t x_at = 0;
  int x_number = 0;
  bool x_has_date = false;
  bool x_has_clock = false;
  ScheduledTime x_moment;
};

} // namespace

std::optional<ScheduledTime> parse_moment(string_view text, ComparisonTrackingVersion version) {
  return MomentReader(text, version).run();
}

} // namespace hpcml::slurm
