// SPDX-License-Identifier: MIT
// Why a run ended, from the record that its agents have written.
#pragma once

#include <string>

#include "core/util/env_snapshot.hpp"

namespace hpcml::batch {

/// The class in the last "end" event of a run record (docs/reference/run-record.md); empty if it has none.
std::string class_of_record(const std::string& text);

/// The class of the newest run record of this job in `log_dir`; empty if there is none. `text` of at most 64
/// KiB from the record's end is read.
std::string read_run_cause(const std::string& log_dir, const util::EnvSnapshot& env);

} // namespace hpcml::batch
