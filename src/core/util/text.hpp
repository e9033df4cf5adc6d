// SPDX-License-Identifier: MIT
// Small text functions that have no home in the standard library.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::util {

/// The text without spaces, tabs, CR and LF at either end.
std::string_view trim(std::string_view text);
/// Pieces between the separators; empty pieces are kept ("a,,b" gives three). An empty text gives one empty
/// piece.
std::vector<std::string> split(std::string_view text, char separator);
/// The parts in order, the separator between them.
std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// "a, b and 6 more": at most `most` of them by name.
std::string join_some(const std::vector<std::string>& names, std::size_t most);
/// ASCII letters in lower case; other bytes unchanged.
std::string to_lower(std::string_view text);
/// Every `from`, which must not be empty, replaced by `to`.
std::string replace_all(std::string text, std::string_view from, std::string_view to);
/// Whether the list has the value.
template <class List, class T> bool contains(const List& list, const T& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}
/// Adds the text unless it exists.
void add_once(std::vector<std::string>& list, const std::string& text);
/// "1 node", "3 nodes".
std::string counted(unsigned long long count, std::string_view noun);
/// What is after the last slash of a path; all of it where there is none.
std::string base_name(std::string_view path);
/// What is before the last slash of a path: "/" in "/etc", "." where there is none.
std::string directory_name(std::string_view path);
/// Whether the character is one of names in bash, C and Slurm's variables.
constexpr bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }
/// A decimal number without sign, spaces or rest; nothing if it is not one or does not fit.
std::optional<unsigned long long> parse_unsigned(std::string_view text);
/// The candidate nearest to `word` by edit distance if it is near enough to be a typo, for "did you mean".
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);
/// Returns the hint for a value that is not one of the names, for example "use 'lumi' or another of lumi,
/// snellius". Returns an empty text if there are no names.
std::string choice_hint(const std::string& value, const std::vector<std::string>& names);
/// 64-bit FNV-1a, for names and change detection; not for security.
unsigned long long fnv1a(std::string_view text);
/// `value` as 16 lower-case hexadecimal digits.
std::string hex16(unsigned long long value);

} // namespace hpcml::util
