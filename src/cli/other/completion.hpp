// SPDX-License-Identifier: MIT
// What can stand at the end of a line that somebody types: words, files, or another program's words.
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

/// A word that can stand there, and what it means.
struct CompletionCandidate {
  std::string text;
  std::string about;
};

/// All that can stand there.
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
struct TypedLine {
  std::vector<std::string> commands;                       ///< "sites", "show"
  std::vector<std::pair<std::string, std::string>> values; ///< flags with dashes, and their values
  std::vector<std::string> words;                          ///< those that belong to no flag
  /// The last value of the flag, or nothing.
  std::optional<std::string> value(std::string_view flag) const;
};

/// What the option takes as a value: the words of a closed set, the sites, what the site of the line has,
/// the user's jobs, files. Nothing of the line is run.
Completion complete_value(const CLI::Option& option, const TypedLine& line, const Context& context);

/// `words`: what is typed behind "hpcml", the last one being completed, perhaps empty.
Completion complete_words(const std::vector<std::string>& words, Context context);

/// Prints the completions of the words behind "--": in the first line what kind they are, below it each one's
/// text, a tab, what it means.
int run_complete(const Context& context);

} // namespace hpcml::cli
