// SPDX-License-Identifier: MIT
// What becomes of an option that a person passes through to sbatch or srun.
#pragma once

#include <string>

#include "core/slurm/option_word.hpp"

namespace hpcml::plan {

/// What the script does with a raw option.
enum class RawUse {
  allow, ///< goes into the script as it is
  fold,  ///< is a request: it becomes one, so that layout and masks follow it
  refuse,
};

/// The decision with its reason.
struct RawDecision {
  RawUse use = RawUse::allow;
  std::string why;  ///< of a refusal, a sentence's end: "would contradict the planned layout"
  std::string hint; ///< what to do instead
};
/// The decision about an option of `program`.
RawDecision decide_raw(slurm::Program program, const slurm::OptionWord& option);

} // namespace hpcml::plan
