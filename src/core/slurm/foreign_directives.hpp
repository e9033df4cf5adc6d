// SPDX-License-Identifier: MIT
// Directives of PBS and LSF, which sbatch obeys as if they were its own.
#pragma once

#include <vector>

#include "core/slurm/option_settings.hpp"

namespace hpcml::slurm {

/// The #PBS or #BSUB lines (of both, LSF's alone count) in sbatch's options; what has no counterpart is
/// omitted, what sbatch refuses goes to `findings`.
std::vector<OptionSetting> translate_foreign(const ScriptHeader& header, ComparisonTrackingVersion version,
                                             LocatedFindings& findings);

} // namespace hpcml::slurm
