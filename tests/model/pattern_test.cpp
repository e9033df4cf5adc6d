// SPDX-License-Identifier: MIT
// Regular expressions of profiles, against the library's own answer.
#include <catch2/catch.hpp>

#include <regex>

#include "model/pattern.hpp"

using namespace hpcml;

TEST_CASE("a pattern matches what the expression matches as a whole, whatever it begins with") {
  const std::string patterns[] = {"login\\d+(\\..*)?", "login\\d+", "jw.*\\.juwels", ".*\\.ls6", "^narval$", "ab?", "ab*c", "a?", "ab{0}c", "a{2}", "ab+",
                                  "a|b",               "login1|.*", "(a)b",          "[a]b",    "",         "a-b", "\\w+",  "a$",  "a\\.b",  "dt-login\\d+", "-?a"};
  const std::string texts[] = {"", "a", "b", "ab", "ac", "abc", "abbc", "aa", "a-b", "a.b", "login1", "login12.x", "login", "xlogin1", "jw1.juwels", "x.ls6", "narval", "narval1", "dt-login3", "-a"};
  for (const auto& pattern : patterns)
    for (const auto& text : texts) {
      CAPTURE(pattern, text);
      CHECK(model::matches_pattern(text, pattern) == std::regex_match(text, std::regex(pattern)));
    }
}

TEST_CASE("what is no expression, or too long for one, is said and matches nothing") {
  CHECK(model::check_pattern("project_[0-9]+").ok());
  for (const auto& pattern : {std::string("a("), std::string(201, 'a')}) {
    CHECK_FALSE(model::check_pattern(pattern).ok());
    CHECK_FALSE(model::matches_pattern(pattern, pattern));
  }
  CHECK_FALSE(model::matches_pattern(std::string(513, 'a'), "a*"));
}
