// SPDX-License-Identifier: MIT
// What a launch runs, without what starts it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/subject.hpp"

namespace hpcml::import_script {

/// A program as words, and as the text that bash makes these words of.
struct ProgramText {
  std::vector<std::string> command, source;
  std::vector<std::string> inner = {};   ///< the person's own command, where a shell of ours stands around it
  std::size_t begin = std::string::npos; ///< of its first word in the script
};

/// What becomes of a variable all of whose words are known and the program's.
enum class Expansions {
  written_out, ///< its words stand in the new script
  kept,        ///< the variable does: it has other words another time
};

/// The launch's program; nothing where only the running job knows it, or, with `why`, where it cannot be
/// started once per rank.
std::optional<ProgramText> program_text(std::string_view text, const check::Launch& launch,
                                        const shell::View& view, Expansions expansions, std::string& why);

/// A word that is not known as it will be, written so that bash makes it again: its variables stand in it.
/// Nothing where that cannot be.
std::optional<std::string> rebuilt(const shell::Argument& word);

/// Whether numactl stands among the command's words.
bool runs_numactl(const shell::Command& command);

} // namespace hpcml::import_script
