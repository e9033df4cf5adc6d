// SPDX-License-Identifier: MIT
// The keys of a job: one table for the job file, the variables and merging.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/object_reader.hpp"
#include "core/model/job_spec.hpp"
#include "core/util/result.hpp"

namespace hpcml::config {

/// How a key is given on the command line.
enum class FlagForm : std::uint8_t {
  value,  ///< --nodes 2; the last one holds, as sbatch has it
  list,   ///< --module a --module b
  yes_no, ///< --requeue, --no-requeue
  on,     ///< --report
};

/// What help shows of a key.
struct KeyHelp {
  std::string_view group; ///< heading of the option
  std::string_view type;  ///< placeholder of the value
  std::string_view text;
  std::string_view fallback = {}; ///< the default; empty: none
  std::string_view no_text = {};  ///< of --no-NAME; a yes_no without one of the two texts lacks that option
};

/// One key: how it is read from a file and from a text, how it is written, and how a later job wins over an
/// earlier one. Flags, HPCML_* variables, job files and `hpcml init` come from this row.
struct JobKey {
  std::string name; ///< the flag's name without dashes in front
  FlagForm form;
  KeyHelp help;
  std::function<void(model::JobSpec&, ObjectReader&)> from_file;
  /// Of a list: adds one more. Says what is wrong ("must be …"), or nothing.
  std::function<std::optional<util::Error>(model::JobSpec&, const std::string&, const model::Origin&)>
      from_text;
  std::function<void(model::JobSpec&, const model::JobSpec&)> merge;
  /// As a job file has it; nothing where the job does not say it.
  std::function<std::optional<std::string>(const model::JobSpec&)> to_json;
  bool per_component = false; ///< each component of a heterogeneous job may say it for itself
  bool names_site = false;    ///< its value is a name that only one site has: a partition, an account
  std::vector<std::string> (*words)() = nullptr; ///< those that it takes, where it takes no others

  /// "--nodes"
  std::string flag() const { return "--" + name; }
  /// Lists are too easily torn apart in a variable.
  bool has_variable() const { return form != FlagForm::list; }
};

/// All keys.
const std::vector<JobKey>& job_keys();

/// Reads all keys of a job file's object, "command" included; `root.finish()` is left to the caller.
model::JobSpec read_job(ObjectReader& root);

} // namespace hpcml::config
