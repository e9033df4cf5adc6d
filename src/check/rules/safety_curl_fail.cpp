// SPDX-License-Identifier: MIT
// Downloads by curl that take an error page for the file.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_curl_fail {

/// Letters of curl's options that take a value, which may be in the same word: "-XPOST", "-ofile".
constexpr std::string_view k_with_value = "AbcCdDeEFHKmoPQrtTuUwxXyYz";

/// True if one of the words has the option: by its name, or as a letter among others ("-fsSL").
bool has_option(std::span<const shell::Argument> words, char letter, std::string_view name) {
  return std::any_of(words.begin(), words.end(), [&](const shell::Argument& argument) {
    const auto word = argument.text();
    if (word.starts_with("--"))
      return word.starts_with(name) && word != "--fail-early" && word != "--output-dir";
    if (word.size() < 2 || word[0] != '-') return false;
    return word.substr(1, word.find_first_of(k_with_value, 1)).find(letter) != std::string::npos;
  });
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto& command = *launch.command;
    if (launch.last().program != "curl" || command.name() != "curl" || command.context.unreached) continue;
    const auto words = command.arguments();
    const bool all_known =
        std::all_of(words.begin(), words.end(), [](const auto& word) { return !word.many; });
    const bool to_file = has_option(words, 'O', "--remote-name") || has_option(words, 'o', "--output");
    const bool checks_only =
        std::any_of(words.begin(), words.end(), [](const auto& word) { return word.text() == "/dev/null"; });
    if (!all_known || !to_file || checks_only || has_option(words, 'f', "--fail")) continue;
    const auto place = command.words[*command.program].place;
    hits.add({place,
              "curl without --fail saves an error page as the file, and succeeds",
              "add --fail",
              {{place.offset + place.length, 0, " --fail"}}});
  }
  return hits;
}

} // namespace safety_curl_fail

Rule rule_safety_curl_fail() {
  using namespace safety_curl_fail;
  return {
      .id = "safety/curl-fail",
      .severity = diag::Severity::note,
      .title = "Download that saves error pages",
      .why = "Without --fail, curl saves the server's error page as the file and exits with 0. A script that "
             "downloads only missing files then takes that page for the data set.",
      .link = "https://curl.se/docs/manpage.html#-f",
      .bad = {R"(#!/bin/bash
curl -L -O https://data.uni.org/images.tar
srun python train.py
)"},
      .good = {R"(#!/bin/bash
curl -fL -O https://data.uni.org/images.tar
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
