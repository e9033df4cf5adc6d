// SPDX-License-Identifier: MIT
// The words of directives and command lines as options with values, read as getopt_long reads them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/slurm/script_header.hpp"

namespace hpcml::slurm {

/// Where an option was given; a later one beats an earlier one.
enum class OptionSource { script, environment, command_line };

/// One option as it was given.
struct OptionSetting {
  std::string option; ///< full name, no dashes
  std::optional<std::string> value;
  TextRange place = {};
  OptionSource source = OptionSource::script;
  bool off = false; ///< a variable that takes an option without a value back ("SBATCH_OVERCOMMIT=no")
};

/// What sbatch is given next to the script.
struct SbatchInvocation {
  std::vector<std::string> arguments;             ///< before the script's name; ":" separates components
  std::map<std::string, std::string> environment; ///< SBATCH_* and SLURM_HINT count
};

/// Per component of the job, the options in the order in which they take effect: the last of a name wins.
using Components = std::vector<std::vector<OptionSetting>>;

/// Reads the whole: script, then environment, then command line. Unknown or malformed options go to
/// `findings`.
Components read_settings(const ScriptHeader& header, const SbatchInvocation& invocation,
                         ComparisonTrackingVersion version, LocatedFindings& findings);

} // namespace hpcml::slurm
