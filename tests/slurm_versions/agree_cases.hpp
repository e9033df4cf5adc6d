// SPDX-License-Identifier: MIT
// Measured sbatch cases against hpcml's reader.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/slurm/version.hpp"
#include "core/util/result.hpp"

namespace hpcml::agree {

/// One case in one version.
struct Outcome {
  std::string id;
  std::string group;
  slurm::Version version = slurm::k_oldest_version;
  std::vector<std::string> differences; ///< empty: hpcml and sbatch agree
};

/// Runs every case of the file in every version that it was measured in.
util::Result<std::vector<Outcome>> run_cases(const std::filesystem::path& file);

} // namespace hpcml::agree
