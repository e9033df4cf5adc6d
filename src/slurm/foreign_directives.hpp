// SPDX-License-Identifier: MIT
// Directives of PBS and LSF, which sbatch obeys as if they were its own.
#pragma once

#include <vector>

#include "slurm/settings.hpp"

namespace hpcml::slurm {

/// A #PBS or #BSUB line in sbatch's options; what has no counterpart is left out, as sbatch does.
std::vector<Setting> translate_foreign(const Directive& directive);

} // namespace hpcml::slurm
