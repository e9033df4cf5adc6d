// SPDX-License-Identifier: MIT
// What scontrol shows of a job, as the measured cases write it down.
#pragma once

#include <map>
#include <string>

namespace hpcml::agree {

/// The cases' jobs are numbered from here: no number of a script is one of theirs.
constexpr int k_first_job = 7000001;

/// A job's fields by their names.
using Record = std::map<std::string, std::string>;

/// Where and beside what a job was shown.
struct Shown {
  const std::string& version; ///< "22.05"
  std::string directory;      ///< of the cluster
  const Record& plain;        ///< a job that asks for nothing; empty: all fields are written down
  bool is_later = false;      ///< a component behind the first
};

/// A line of `scontrol show job -o`: the fields that a measured case may hold and that a plain job's do not
/// say.
Record read_job(const std::string& line, const Shown& shown);

} // namespace hpcml::agree
