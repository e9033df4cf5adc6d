// SPDX-License-Identifier: MIT
// Regular expressions of profiles, against the library's own answer.
#include <catch2/catch.hpp>

#include <optional>
#include <random>
#include <regex>
#include <vector>

#include "core/model/pattern.hpp"
#include "core/model/plain_pattern.hpp"

using namespace hpcml;

TEST_CASE("a pattern matches what the expression matches as a whole, whatever it begins with") {
  const std::string patterns[] = {"login\\d+(\\..*)?",
                                  "login\\d+",
                                  "jw.*\\.juwels",
                                  ".*\\.ls6",
                                  "^narval$",
                                  "ab?",
                                  "ab*c",
                                  "a?",
                                  "ab{0}c",
                                  "a{2}",
                                  "ab+",
                                  "a|b",
                                  "login1|.*",
                                  "(a)b",
                                  "[a]b",
                                  "",
                                  "a-b",
                                  "\\w+",
                                  "a$",
                                  "a\\.b",
                                  "dt-login\\d+",
                                  "-?a"};
  const std::string texts[] = {"",           "a",     "b",      "ab",      "ac",        "abc",   "abbc",
                               "aa",         "a-b",   "a.b",    "login1",  "login12.x", "login", "xlogin1",
                               "jw1.juwels", "x.ls6", "narval", "narval1", "dt-login3", "-a"};
  for (const auto& pattern : patterns)
    for (const auto& text : texts) {
      CAPTURE(pattern, text);
      CHECK(model::matches_pattern(text, pattern) == std::regex_match(text, std::regex(pattern)));
    }
}

TEST_CASE("patterns put together at random match what the library says") {
  const std::vector<std::string> parts = {
      "a",      "b",    "Z",       "_",    "-",     "1",    ".",
      "\\d",    "\\.",  "\\-",     "[ab]", "[a-c]", "[^a]", "[A-Za-z0-9_.-]",
      "[0-9]",  "[-a]", "[a-]",    "[+.]", "[.b-]", "(ab)", "x|y",
      "(a|b-)", "(|c)", "(\\.a+)", "^",    "$",     " "};
  const std::vector<std::string> times = {"", "", "", "+", "*", "?", "{2}", "+?", "*?", "??"};
  const std::vector<std::string> letters = {"a", "b", "c", "Z",  "_",  "-", "1",    "9",
                                            ".", "+", "x", "\n", "\r", " ", "\xc3", "^"};
  std::mt19937 random(7);
  const auto one_of = [&](const std::vector<std::string>& list) { return list[random() % list.size()]; };
  unsigned matched = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string pattern = random() % 2 ? "^" : "";
    for (unsigned n = random() % 5; n > 0; --n) pattern += one_of(parts) + one_of(times);
    if (random() % 2) pattern += "$";
    std::optional<std::regex> expression;
    try {
      expression.emplace(pattern);
    } catch (const std::regex_error&) {
    }
    for (int j = 0; j < 12; ++j) {
      std::string text;
      for (unsigned n = random() % 5; n > 0; --n) text += one_of(letters);
      CAPTURE(pattern, text);
      const bool right = expression && std::regex_match(text, *expression);
      matched += right ? 1 : 0;
      if (model::matches_pattern(text, pattern) != right) FAIL_CHECK("the library says " << right);
    }
  }
  CHECK(matched > 1000);
}

TEST_CASE("the patterns of profiles are read without the library, and what has more than they need is not") {
  for (const auto* pattern : {"^project_[0-9]+$", "^(def|rrg|rpp|aip)-.+$", "^[Bb]erzelius-[0-9]{4}-[0-9]+$",
                              "^.+-dtai-gh$", "login\\d+(\\..*)?", "jw.*\\.juwels", "a|b"})
    CHECK(model::match_plain_pattern("project_465000001", pattern) ==
          std::regex_match("project_465000001", std::regex(pattern)));
  for (const auto* pattern :
       {"(a)+b", "a*?", "(?=a)a", "\\w", "[[:alpha:]]", "(a)\\1", "a{2", "[", "(a", "*", "\xc3", "a\\"})
    CHECK(model::match_plain_pattern("a", pattern) == std::nullopt);
}

TEST_CASE("what is no expression, or too long for one, is said and matches nothing") {
  CHECK(model::check_pattern("project_[0-9]+").ok());
  for (const auto& pattern : {std::string("a("), std::string(201, 'a')}) {
    CHECK_FALSE(model::check_pattern(pattern).ok());
    CHECK_FALSE(model::matches_pattern(pattern, pattern));
  }
  CHECK_FALSE(model::matches_pattern(std::string(513, 'a'), "a*"));
}
