// SPDX-License-Identifier: MIT
// What can complete a command line: words, files, or another program's words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"

namespace CLI {
class Option;
}

namespace hpcml::cli {

/// A word that completes the line, and its meaning.
struct CompletionCandidate {
  std::string text;
  std::string about;
};

/// All words that complete the line.
struct Completion {
  enum class Kind {
    words,   ///< those of the list, no others
    files,   ///< also any file
    program, ///< the words from `program_at` on are another program's line
  };
  Kind kind = Kind::words;
  std::size_t program_at = 0;
  std::vector<CompletionCandidate> list = {};
};

/// What a line says up to the word that is completed.
struct CompletedLine {
  std::vector<std::string> commands;                       ///< "sites", "show"
  std::vector<std::pair<std::string, std::string>> values; ///< flags with dashes, and their values
  std::vector<std::string> words;                          ///< those that belong to no flag
  /// The last value of the flag, or nothing.
  std::optional<std::string> value(std::string_view flag) const;
};

/// What the option takes as a value: the words of a closed set, the sites, what the site of the line has,
/// the user's jobs, files. Nothing of the line is run.
Completion complete_value(const CLI::Option& option, const CompletedLine& line, const Context& context);

/// `words`: those after "hpcml"; the last one, which may be empty, is completed.
Completion complete_words(const std::vector<std::string>& words, Context context);

/// Prints the completions of the words after "--": their kind on the first line, then for each its text, a
/// tab and its meaning.
int run_complete(const Context& context);

} // namespace hpcml::cli
