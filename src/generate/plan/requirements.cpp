// SPDX-License-Identifier: MIT
#include "generate/plan/requirements.hpp"

#include <fmt/format.h>

#include "core/util/one_line.hpp"
#include "core/util/text.hpp"

namespace hpcml::plan {

std::optional<std::string> requirements_file(const std::string& text) {
  const std::string word(util::trim(text));
  const bool option = !word.empty() && word.front() == '-';
  const bool path = word.find('/') != std::string::npos || word.ends_with(".txt");
  if (!path || option || !util::is_one_line(word) || word.find(' ') != std::string::npos) return std::nullopt;
  return word;
}

std::vector<std::string> requirement_words(const std::string& text, const std::string& option,
                                           diag::Diagnostics& findings) {
  if (const auto file = requirements_file(text)) return {"-r", *file};
  const auto error = [&](const std::string& message) {
    findings.push_back({diag::Severity::error,
                        "usage/" + option.substr(2),
                        message,
                        {},
                        fmt::format("use packages, as {} 'torch numpy', or a requirements file", option)});
  };
  std::vector<std::string> words;
  for (const auto& word : util::split(text, ' ')) {
    if (word.empty()) continue;
    if (word.front() == '-' || !util::is_one_line(word))
      error(fmt::format("'{}' is not a valid requirement", word));
    words.push_back(word);
  }
  if (words.empty()) error(fmt::format("{} names no package", option));
  return words;
}

} // namespace hpcml::plan
