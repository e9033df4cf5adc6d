// SPDX-License-Identifier: MIT
// Measuring new cases with a live sbatch.
#pragma once

#include <filesystem>

#include "util/result.hpp"

namespace hpcml::agree {

/// Mutates the cases of a file by seed, asks the sbatch under `prefix` about `count` of them and writes what it did to
/// `out`, in the format of the file; a count of 0: about the cases as they are. Returns how many were asked.
util::Result<unsigned> measure_mutations(const std::filesystem::path& cases, unsigned count, unsigned seed, const std::filesystem::path& prefix,
                                         const std::filesystem::path& out);

} // namespace hpcml::agree
