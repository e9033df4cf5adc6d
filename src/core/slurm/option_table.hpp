// SPDX-License-Identifier: MIT
// The rows of the one table of options: internal to this directory, asked through options.hpp.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "core/slurm/options.hpp"

namespace hpcml::slurm {

/// Per program: the letter if there is one, then "=" (a value is required), "?" (it may have one) or "." (it
/// has none), each with the versions for which that holds ("?[25.11-]") where those are not all; empty where
/// the program has no such option. Then the variable that sbatch reads, with its versions if not all, and
/// whether a component of a heterogeneous job starts without the option.
struct OptionRow {
  std::string_view name;
  ValueKind kind;
  std::string_view sbatch;
  std::string_view srun;
  std::string_view salloc;
  std::string_view variable;
  bool per_component = false;
};

/// Every option, by name.
std::span<const OptionRow> option_rows();

/// A row's text for one program as values: read when hpcml is built, as most calls ask for a few options
/// only.
struct ProgramOption {
  char letter = '\0';
  std::array<std::optional<TakesValue>, k_version_names.size()> arguments = {};
};

/// How a program has the option of a row of `option_rows()`.
const ProgramOption& use_of(const OptionRow& row, Program program);

} // namespace hpcml::slurm
