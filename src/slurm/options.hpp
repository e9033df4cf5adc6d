// SPDX-License-Identifier: MIT
// The options of sbatch and srun by name: which exist, their letters, whether they take a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::slurm {

enum class Program { sbatch, srun };
enum class Argument { none, optional, required };

/// An option of a program, by its full name without dashes ("ntasks-per-node").
struct Option {
  std::string name;
  Argument argument = Argument::none;
};

/// What a name stands for: one option; several, for which it is too short; none, where a plugin of a site may
/// have one.
struct OptionMatch {
  std::optional<Option> option;
  std::vector<std::string> candidates; ///< the names it could be, when it is ambiguous
};

/// The option that `name` (without dashes) is a name, an older name or a unique beginning of, as getopt_long
/// has it. All versions from 20.11 to 26.05 together: an option that a later one adds can make a beginning
/// ambiguous.
OptionMatch find_option(Program program, std::string_view name);
/// The option with this letter.
std::optional<Option> find_option(Program program, char letter);
/// Full names, for "did you mean".
std::vector<std::string> option_names(Program program);

} // namespace hpcml::slurm
