// SPDX-License-Identifier: MIT
// hpcml.json: the request flags as a file.
#pragma once

#include <optional>
#include <string>

#include "diag/diagnostic.hpp"
#include "model/job_spec.hpp"
#include "util/env_snapshot.hpp"

namespace hpcml::spec {

struct JobLoad {
  std::optional<model::JobSpec> job;
  std::optional<std::string> site; ///< "site" key
  diag::Diagnostics diagnostics;
  std::string source;
};
/// Keys are the flags' names without dashes in front ("gpus-per-node"), "command" is an array of words.
JobLoad load_job_file(const std::string& path);
/// The same keys from HPCML_* variables: HPCML_ACCOUNT, HPCML_PARTITION, … (and HPCML_SITE).
JobLoad job_from_environment(const util::EnvSnapshot& env);
/// Values of `over` where it has them, else those of `under`. Lists are appended: `under` first.
model::JobSpec merge_jobs(const model::JobSpec& under, const model::JobSpec& over);

} // namespace hpcml::spec
