// SPDX-License-Identifier: MIT
// The directives of a batch script, found and cut into words as sbatch does it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/slurm/comparison_tracking_version.hpp"
#include "core/slurm/findings.hpp"

namespace hpcml::slurm {

/// A word of a directive after quotes and escapes, and the bytes that it was written with.
struct HeaderWord {
  std::string text;
  TextRange place;
};

/// Whose directive a line is: sbatch obeys the others' too.
enum class DirectivePrefix { sbatch, pbs, bsub };

/// A line of a header, as words.
struct HeaderLine {
  DirectivePrefix magic = DirectivePrefix::sbatch;
  unsigned component = 0; ///< of a heterogeneous job, from 0
  std::vector<HeaderWord> words;
};

/// The directives of a script, as sbatch reads them.
struct ScriptHeader {
  std::vector<HeaderLine> directives;
  unsigned components = 1;
  std::size_t end = 0; ///< offset of the line at which sbatch stops reading
};

/// What sbatch of this version reads of the script; what it refuses (or warns of) goes to `findings`.
ScriptHeader read_header(std::string_view text, ComparisonTrackingVersion version, LocatedFindings& findings);

} // namespace hpcml::slurm
