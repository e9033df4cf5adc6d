// SPDX-License-Identifier: MIT
#include "generate/plan/requirements.hpp"

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
                        "packages, as " + option + " 'torch numpy', or a requirements file"});
  };
  std::vector<std::string> words;
  for (const auto& word : util::split(text, ' ')) {
    if (word.empty()) continue;
    if (word.front() == '-' || !util::is_one_line(word)) error("'" + word + "' is no requirement");
    words.push_back(word);
  }
  if (words.empty()) error(option + " names no package");
  return words;
}

} // namespace hpcml::plan
