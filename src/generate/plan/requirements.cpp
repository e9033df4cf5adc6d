// SPDX-License-Identifier: MIT
#include "generate/plan/requirements.hpp"

#include <fmt/format.h>

#include "core/util/one_line.hpp"
#include "core/util/text.hpp"

namespace hpcml::plan {
namespace {

/// The directory of a file, for pip to install the project in it.
std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::vector<std::string> file_words(const std::string& file, const std::string& option,
                                    diag::Diagnostics& findings, PackageInstaller installer) {
  const auto error = [&](const std::string& message, const std::string& hint) {
    findings.push_back({diag::Severity::error, "usage/" + option.substr(2), message, {}, hint});
  };
  if (is_conda_file(file) && installer != PackageInstaller::conda)
    error(fmt::format("'{}' is a conda environment, which pip does not read", file),
          "use hpcml env conda, or list the packages in a requirements.txt");
  if (is_uv_lock(file) && installer != PackageInstaller::uv)
    error(fmt::format("'{}' is a lock file of uv, which pip does not read", file),
          "use hpcml env uv, or write a requirements.txt: uv export -o requirements.txt");
  const bool project = file.ends_with("pyproject.toml") && installer != PackageInstaller::uv;
  return project ? std::vector<std::string>{directory_of(file)} : std::vector<std::string>{"-r", file};
}

/// Whether a word is a list of packages: "torch,numpy". Commas also separate versions (">=1,<2") and extras.
bool has_list(const std::string& word) {
  unsigned depth = 0;
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    if (word[i] == '[') ++depth;
    if (word[i] == ']' && depth > 0) --depth;
    if (word[i] == ',' && depth == 0 && util::is_name_char(word[i + 1])) return true;
  }
  return false;
}

} // namespace

bool is_conda_file(const std::string& path) { return path.ends_with(".yml") || path.ends_with(".yaml"); }

bool is_uv_lock(const std::string& path) { return path == "uv.lock" || path.ends_with("/uv.lock"); }

std::optional<std::string> requirements_file(const std::string& text) {
  const std::string word(util::trim(text));
  const bool option = !word.empty() && word.front() == '-';
  const bool path = word.find('/') != std::string::npos || word.ends_with(".txt") || is_conda_file(word) ||
                    word == "pyproject.toml" || is_uv_lock(word);
  if (!path || option || !util::is_one_line(word) || word.find(' ') != std::string::npos) return std::nullopt;
  return word;
}

std::vector<std::string> requirement_words(const std::string& text, const std::string& option,
                                           diag::Diagnostics& findings, PackageInstaller installer) {
  if (const auto file = requirements_file(text)) return file_words(*file, option, findings, installer);
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
    if (word.front() == '-' || !util::is_one_line(word) || has_list(word))
      error(fmt::format("'{}' is not a valid requirement", word));
    words.push_back(word);
  }
  if (words.empty()) error(fmt::format("{} is empty: it must name at least one package to install", option));
  return words;
}

} // namespace hpcml::plan
