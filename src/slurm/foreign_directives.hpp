// SPDX-License-Identifier: MIT
// Directives of PBS and LSF, which sbatch obeys as if they were its own.
#pragma once

#include <vector>

#include "slurm/settings.hpp"

namespace hpcml::slurm {

/// The words of all #PBS or all #BSUB lines in sbatch's options; what has no counterpart is left out, what sbatch refuses goes to `findings`.
std::vector<Setting> translate_foreign(Magic magic, const std::vector<Word>& words, Version version, Findings& findings);

} // namespace hpcml::slurm
