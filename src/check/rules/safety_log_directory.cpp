// SPDX-License-Identifier: MIT
// A directory for the log that Slurm before 23.02 does not create.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_log_directory {

/// Whether the script itself makes the directory, which shows that it may be missing.
bool is_made_by(const LintContext& subject, const std::string& directory) {
  for (const auto& command : subject.listing.commands)
    if (command.name() == "mkdir")
      for (const auto& word : command.arguments()) {
        auto text = word.text();
        while (text.size() > 1 && text.back() == '/') text.pop_back();
        if (text.starts_with("./")) text.erase(0, 2);
        if (text == directory) return true;
      }
  return false;
}

/// Whether a comment says to make the directory, as the usage of a script does: "#   mkdir -p logs".
bool is_made_by_usage(std::string_view text, const std::string& directory) {
  constexpr std::string_view k_space = " \t\r`;&";
  for (std::size_t at = 0; at < text.size(); at = next_line(text, at)) {
    const auto place = line_at(text, at);
    auto line = util::trim(text.substr(place.offset, place.length));
    if (!line.starts_with('#')) continue;
    const auto command = line.find("mkdir ");
    if (command == std::string_view::npos) continue;
    line.remove_prefix(command + 6);
    while (!line.empty()) {
      const auto begin = line.find_first_not_of(k_space);
      if (begin == std::string_view::npos) break;
      const auto end = std::min(line.find_first_of(k_space, begin), line.size());
      auto word = line.substr(begin, end - begin);
      if (word.starts_with("./")) word.remove_prefix(2);
      if (word.ends_with('/')) word.remove_suffix(1);
      if (word == directory) return true;
      line.remove_prefix(end);
    }
  }
  return false;
}

/// Whether it hands itself to sbatch, as headers do that make the directories first.
bool submits_itself(const LintContext& subject) {
  const auto is_own_name = [](const shell::Argument& word) {
    return std::any_of(word.pieces.begin(), word.pieces.end(), [](const shell::ArgumentPiece& piece) {
      return !piece.known && (piece.text.find("$0") != std::string::npos || piece.text == "${0}" ||
                              piece.text.find("BASH_SOURCE") != std::string::npos);
    });
  };
  return std::any_of(
      subject.listing.commands.begin(), subject.listing.commands.end(), [&](const auto& command) {
        const auto words = command.arguments();
        return command.name() == "sbatch" && std::any_of(words.begin(), words.end(), is_own_name);
      });
}

/// Whether the directory exists when the log is opened: `made` is that the script makes it.
bool is_made_before(const LintContext& subject, const std::string& directory, bool made) {
  return (made && submits_itself(subject)) || is_made_by_usage(subject.text, directory);
}

/// The directory of the log of this option; empty if there is none that may be missing, or none that the
/// script's text shows.
std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0 || path[0] == '$' || path[0] == '~' ||
      path.find_first_of("<{") != std::string::npos)
    return {};
  auto directory = path.substr(0, slash);
  if (directory.starts_with("./")) directory.erase(0, 2);
  constexpr std::array<std::string_view, 4> k_present = {".", "..", "/dev", "/tmp"};
  return util::contains(k_present, std::string_view(directory)) ? std::string() : directory;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  std::vector<std::string> reported;
  if (subject.requests.empty() || !subject.may_be("20.11-22.05")) return hits;
  const auto severity = subject.version_known ? std::nullopt : std::optional(diag::Severity::note);
  const auto& request = subject.requests[0]; // the script's log is that of the first component
  for (const std::string_view option : {"output", "error"}) {
    const auto directory = directory_of(request.text(option));
    if (directory.empty() || request.place(option).length == 0 || util::contains(reported, directory))
      continue;
    const bool pattern =
        directory.find('%') != std::string::npos && directory.find("%u") == std::string::npos;
    const bool made = is_made_by(subject, directory);
    if (directory[0] == '/' && !pattern && !made) continue; // who writes it in full knows it
    if (is_made_before(subject, directory, made)) continue;
    reported.push_back(directory);
    hits.push_back(
        {request.place(option),
         fmt::format("'{}' must exist before the job starts: Slurm before 23.02 does not create it{}",
                     directory, made ? ", and the mkdir in the script comes too late" : ""),
         pattern ? "use the pattern in the file's name instead"
                 : fmt::format("run mkdir -p {} before sbatch", directory),
         {},
         severity});
  }
  return hits;
}

} // namespace safety_log_directory

Rule rule_safety_log_directory() {
  using namespace safety_log_directory;
  return {
      .id = "safety/log-directory",
      .severity = diag::Severity::warning,
      .title = "Log in a missing directory",
      .why =
          "Slurm before 23.02 creates the log, but not its directory. When the directory is missing as the "
          "job "
          "starts, the job fails at once, and there is no log that says why; a mkdir in the script comes too "
          "late. Newer versions create the directory. If the version is not known, this is a note.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_output",
      .bad = {R"(#!/bin/bash
#SBATCH --output=logs/%j.out
)",
              "", "22.05"},
      .good = {R"(#!/bin/bash
#SBATCH --output=%x-%j.out
)",
               "", "22.05"},
      .find = find,
  };
}

} // namespace hpcml::check
