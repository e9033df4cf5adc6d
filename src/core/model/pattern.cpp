// SPDX-License-Identifier: MIT
#include "core/model/pattern.hpp"

#include <cctype>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <regex>

#include "core/model/plain_pattern.hpp"

namespace hpcml::model {

namespace {

constexpr std::size_t k_longest_pattern = 200;
constexpr std::size_t k_longest_text = 512;

std::optional<std::regex> compile(const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

/// Whether the pattern asks for other first letters than the text has: most names are distinguished without
/// compiling anything.
bool begins_otherwise(const std::string& text, const std::string& pattern) {
  if (pattern.find('|') != std::string::npos) return false;
  std::size_t letters = 0;
  while (letters < pattern.size() &&
         (std::isalnum(static_cast<unsigned char>(pattern[letters])) != 0 || pattern[letters] == '-'))
    ++letters;
  // What follows may say that the last letter is optional.
  if (letters > 0 && letters < pattern.size() &&
      std::string_view("*?{").find(pattern[letters]) != std::string_view::npos)
    --letters;
  return text.compare(0, letters, pattern, 0, letters) != 0;
}

} // namespace

util::Status check_pattern(const std::string& pattern) {
  if (pattern.size() > k_longest_pattern)
    return util::Error{
        fmt::format("a regular expression of the profile has {} characters, which exceeds {} (limit)",
                    pattern.size(), k_longest_pattern),
        "use a shorter expression: .* stands for any text"};
  if (!compile(pattern))
    return util::Error{fmt::format("\"{}\" is not a valid regular expression", pattern),
                       "use ECMAScript syntax, as in JavaScript"};
  return util::Success{};
}

bool matches_pattern(const std::string& text, const std::string& pattern) {
  if (text.size() > k_longest_text || pattern.size() > k_longest_pattern || begins_otherwise(text, pattern))
    return false;
  if (const auto plain = match_plain_pattern(text, pattern)) return *plain;
  // Checks of many scripts ask for the same few patterns again and again.
  static constexpr std::size_t k_most_kept = 64;
  thread_local std::map<std::string, std::optional<std::regex>> kept;
  if (kept.size() > k_most_kept) kept.clear();
  auto found = kept.find(pattern);
  if (found == kept.end()) found = kept.emplace(pattern, compile(pattern)).first;
  return found->second && std::regex_match(text, *found->second);
}

} // namespace hpcml::model
