// SPDX-License-Identifier: MIT
// The keys of a job: one table for the job file, the variables and merging.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/job_spec.hpp"
#include "spec/object_reader.hpp"
#include "util/result.hpp"

namespace hpcml::spec {

/// One key: how it is read from a file, from a text, and how a later job wins over an earlier one.
struct JobKey {
  std::string name; ///< the flag's name without dashes in front
  std::function<void(model::JobSpec&, ObjectReader&)> from_file;
  /// Says what is wrong ("must be …"), or nothing. Empty for keys that cannot be given as one text.
  std::function<std::optional<util::Error>(model::JobSpec&, const std::string&, const model::Origin&)>
      from_text;
  std::function<void(model::JobSpec&, const model::JobSpec&)> merge;
};

/// All keys.
const std::vector<JobKey>& job_keys();

/// Reads all keys of a job file's object, "command" included; `root.finish()` is left to the caller.
model::JobSpec read_job(ObjectReader& root);

} // namespace hpcml::spec
