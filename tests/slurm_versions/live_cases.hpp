// SPDX-License-Identifier: MIT
// Measuring new cases with a live sbatch.
#pragma once

#include <filesystem>

#include "live_cluster.hpp"

namespace hpcml::agree {

/// The scripts of a file of cases, with what sbatch was given beside them.
util::Result<std::vector<Case>> read_cases(const std::filesystem::path& file);

/// Mutates the cases of files (joined by commas) by seed, asks the sbatch under `prefix` about `count` of
/// them and writes what it did to `out`, in the format of the file; a count of 0: about the cases as they
/// are. Returns how many were asked.
util::Result<unsigned> measure_mutations(const std::string& files, unsigned count, unsigned seed,
                                         const std::filesystem::path& prefix,
                                         const std::filesystem::path& out);

} // namespace hpcml::agree
