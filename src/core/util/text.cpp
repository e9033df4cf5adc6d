// SPDX-License-Identifier: MIT
#include "core/util/text.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "core/util/choice_hint.hpp"

namespace hpcml::util {

std::string_view trim(std::string_view text) {
  const char* blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const auto end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string join_some(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return join(names, ", ");
  return fmt::format("{} and {} more",
                     join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most)}, ", "),
                     names.size() - most);
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!contains(list, text)) list.push_back(text);
}

std::string counted(unsigned long long count, std::string_view noun) {
  const auto* plural = noun.ends_with('s') ? "es" : "s";
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : plural);
}

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string directory_name(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

std::optional<unsigned long long> parse_unsigned(std::string_view text) {
  unsigned long long value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

namespace {
/// Characters to change, add, omit or swap with the next.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}
} // namespace

std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& candidates,
                                    std::size_t most) {
  const std::string lower = to_lower(word);
  const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& candidate : candidates)
    if (const auto distance = edit_distance(lower, to_lower(candidate)); distance <= limit)
      near.emplace_back(distance, candidate);
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < near.size() && i < most; ++i) names.push_back(std::move(near[i].second));
  return names;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  auto near = near_names(word, candidates, 1);
  return near.empty() ? std::nullopt : std::optional(std::move(near.front()));
}

std::string choice_hint(const std::string& value, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const auto known = join(names, ", ");
  const auto near = names.size() > 1 ? nearest(value, names) : std::nullopt;
  return near                ? fmt::format("use '{}' or another of {}", *near, known)
         : names.size() == 1 ? fmt::format("use {}", known)
                             : fmt::format("use one of {}", known);
}

std::string choice_hint(const std::string& value, const std::vector<std::string>& names,
                        const std::string& list_command) {
  constexpr std::size_t k_most_listed_names = 6; // a hint with more of them does not fit on a line
  if (names.size() <= k_most_listed_names) return choice_hint(value, names);
  const auto near = near_names(value, names, 3);
  if (near.empty()) return fmt::format("run {} to list the names", list_command);
  return fmt::format("use '{}', or run {}", join(near, "' or '"), list_command);
}

unsigned long long fnv1a(std::string_view text) {
  unsigned long long hash = 14695981039346656037ULL;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
  return hash;
}

std::string hex16(unsigned long long value) {
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4)
    text[static_cast<std::size_t>(i)] = "0123456789abcdef"[value & 15];
  return text;
}

} // namespace hpcml::util
