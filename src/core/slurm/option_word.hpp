// SPDX-License-Identifier: MIT
// One raw option of sbatch or srun, as a user gives it for pass-through.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/slurm/options.hpp"
#include "core/util/result.hpp"

namespace hpcml::slurm {

/// An option by its full long name ("--mem").
struct CanonicalOption {
  std::string name;
  std::optional<std::string> value;
  bool known = true; ///< false: no option of Slurm's own; a plugin of the site may have it
  /// "--mem=4G", "--hold": one word that Slurm reads as this option whatever its version.
  std::string to_word() const { return value ? name + "=" + *value : name; }
};
/// Reads an option as `program` would: "--mem=4G", "--mem 4G", "-p gpu", "-pgpu", "--part=gpu", "--requeue".
/// An error for what it would refuse: no option, an unknown letter, an ambiguous beginning, a missing or
/// superfluous value.
util::Result<CanonicalOption> read_option(Program program, std::string_view word);
/// Splits a word that is known to be written out: "--name" or "--name=value".
CanonicalOption split_option(std::string_view word);

} // namespace hpcml::slurm
