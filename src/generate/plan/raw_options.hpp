// SPDX-License-Identifier: MIT
// What becomes of an option that a person passes through to sbatch or srun.
#pragma once

#include <string>

#include "core/slurm/option_word.hpp"

namespace hpcml::plan {

/// What the script does with a raw option.
enum class RawOptionUse {
  allow, ///< goes into the script as it is
  fold,  ///< is a request: it becomes one, so that layout and masks follow it
  refuse,
};

/// The decision with its reason.
struct RawOptionDecision {
  RawOptionUse use = RawOptionUse::allow;
  std::string why;  ///< of a refusal, a sentence's end: "would contradict the planned layout"
  std::string hint; ///< what to do instead
};
/// The decision about an option of `program`.
RawOptionDecision decide_raw(slurm::Program program, const slurm::NamedOption& option);

} // namespace hpcml::plan
