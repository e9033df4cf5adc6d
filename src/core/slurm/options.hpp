// SPDX-License-Identifier: MIT
// The one table of options of sbatch, srun and salloc: which exist in which version, their letters, whether
// they take a value and which, the variable that sets them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/slurm/comparison_tracking_version.hpp"

namespace hpcml::slurm {

/// The programs of Slurm that take a job's options.
enum class Program { sbatch, srun, salloc };
/// Whether an option has a value.
enum class TakesValue { none, optional, required };
/// What may be written as an option's value; text: anything.
enum class ValueKind {
  text,
  acctg_freq,
  array,
  moment,
  features,
  count_or_zero,
  count,
  cpu_freq,
  time,
  dependency,
  distribution,
  exclusive,
  geometry,
  gpu_bind,
  gpu_freq,
  gpus,
  gpus_per_task,
  gres,
  gres_flags,
  hint,
  yes_no,
  mail_type,
  memory,
  mem_bind,
  nice,
  no_kill,
  node_count,
  open_mode,
  priority,
  profile,
  propagate,
  requeue,
  signal,
  switches,
  tres_bind,
  tres_per_task,
  zero_or_one,
  oom_kill_step,
  get_user_env,
  small_count,
  user,
  wckey,
  mem_update
};

/// An option of a program, by its full name without dashes ("ntasks-per-node").
struct Option {
  std::string name;
  TakesValue argument = TakesValue::none;
};

/// What a name stands for: one option; several, for which it is too short; none, where a plugin of a site may
/// have one.
struct OptionMatch {
  std::optional<Option> option;
  std::vector<std::string> candidates; ///< the names it could be, when it is ambiguous
};

/// A variable that sbatch reads as an option ("SBATCH_PARTITION").
struct OptionVariable {
  std::string_view variable;
  std::string_view option;
};

/// The option that `name` (without dashes) is a name, an older name or a unique beginning of, as getopt_long
/// has it. Without a version all from 20.11 to 26.05 together: an option that a later one adds can make a
/// beginning ambiguous.
OptionMatch find_option(Program program, std::string_view name,
                        std::optional<ComparisonTrackingVersion> version = {});
/// The option with this letter.
std::optional<Option> find_option(Program program, char letter,
                                  std::optional<ComparisonTrackingVersion> version = {});
/// Full names, for "did you mean".
std::vector<std::string> option_names(Program program, std::optional<ComparisonTrackingVersion> version = {});
/// Whether sbatch looks at such a value only when all options are known: of several only the last one counts.
bool is_read_last(ValueKind kind);
/// What the value of the option of this full name may be.
ValueKind value_kind_of(std::string_view name);
/// The versions that have an option of this full name, as "23.11-" or "-22.05"; empty where all have it.
std::string versions_of(Program program, std::string_view name);
/// Whether any version of the program has an option of this full name.
bool is_option(Program program, std::string_view name);
/// The variables that this version's sbatch reads.
std::vector<OptionVariable> option_variables(ComparisonTrackingVersion version);
/// Whether each component of a heterogeneous job starts without this option instead of taking the one
/// before's.
bool is_per_component(std::string_view name);

} // namespace hpcml::slurm
