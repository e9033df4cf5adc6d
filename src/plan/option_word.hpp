// SPDX-License-Identifier: MIT
// One raw option of sbatch or srun, as a person gives it for pass-through.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpcml::plan {

/// True for "-x…" and "--x…" without line breaks and other control characters.
bool is_option_word(std::string_view word);
/// True if the text has no line break and no other control character: it fits on one line of a script.
bool is_one_line(std::string_view text);

/// An option by its long name ("--mem") where it has one.
struct OptionWord {
  std::string name;
  std::optional<std::string> value;
};
/// Reads "--mem=4G", "--mem 4G", "-p gpu", "-pgpu" and "--requeue"; the word must be an option word.
OptionWord split_option(std::string_view word);

} // namespace hpcml::plan
