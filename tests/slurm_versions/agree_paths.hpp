// SPDX-License-Identifier: MIT
// The files of a job as `scontrol show job` prints them.
#pragma once

#include "agree_fields.hpp"

namespace hpcml::agree {

/// WorkDir, StdOut, StdErr and StdIn where they differ from the defaults.
void print_paths(const slurm::JobOptions& request, slurm::Version version, unsigned component,
                 Fields& fields);

} // namespace hpcml::agree
