// SPDX-License-Identifier: MIT
// What a job keeps on its nodes' own disks.
#pragma once

#include <string>
#include <string_view>

namespace hpcml::plan {

/// Whether the path is a packed environment: "env.tar.gz".
bool is_archive(std::string_view path);

/// Whether Slurm gives the job this place and takes it away: "$SLURM_TMPDIR" and what is below it.
bool is_by_slurm(const std::string& place);

} // namespace hpcml::plan
