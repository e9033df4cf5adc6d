// SPDX-License-Identifier: MIT
// All findings on one batch script.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "check/fix.hpp"
#include "check/rule.hpp"
#include "core/model/site.hpp"
#include "core/slurm/version.hpp"

namespace hpcml::check {

/// What a script is checked for.
struct TargetCluster {
  std::optional<slurm::Version> version = {}; ///< unset: the site's; without a site all known ones, where a
                                              ///< refusal that only some have is a warning that names them
  const model::Site* site = nullptr;
  /// The text of a file by its name in the script; unset: none is read.
  ReadFile read_file = {};
};

/// What Slurm's controller takes at most by default, in bytes: max_script_size in slurm.conf(5). Of a larger
/// text nothing but its size is looked at.
inline constexpr std::size_t k_largest_script = std::size_t{4} << 20U;

/// What sbatch refuses, and what the rules find, in the order of the lines.
Findings check_script(const std::string& file, std::string_view text, const TargetCluster& target = {});

/// The script with everything fixed that can be fixed safely; the same text where there is nothing.
FixedText fix_script(std::string_view text, const TargetCluster& target = {});

} // namespace hpcml::check
