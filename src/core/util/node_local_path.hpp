// SPDX-License-Identifier: MIT
// Directories that each node of a job has for itself, and that are emptied when the job ends.
#pragma once

#include <string_view>

namespace hpcml::util {

/// Whether a path is in one: "/tmp/x", "$SLURM_TMPDIR/x".
constexpr bool is_node_local(std::string_view path) {
  for (const std::string_view directory :
       {"/tmp", "/dev/shm", "/var/tmp", "$SLURM_TMPDIR", "${SLURM_TMPDIR}", "$TMPDIR", "${TMPDIR}"})
    if (path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/'))
      return true;
  return false;
}

} // namespace hpcml::util
