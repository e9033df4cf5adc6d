// SPDX-License-Identifier: MIT
// Runs the real program with real Slurm and keeps what it printed.
#pragma once

#include <string>
#include <vector>

#include "core/util/process.hpp"
#include "emulate/site_helper.hpp"

namespace hpcml::test {

/// A folder to run in, and `hpcml emulate` in it.
class Cluster {
public:
  explicit Cluster(std::vector<std::string> arguments) : x_arguments(std::move(arguments)) {}
  /// Writes a file into the folder.
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  /// `hpcml emulate ARGUMENTS -- bash -c SCRIPT` in the folder.
  util::ProcessOutput run(const std::string& script) const;
  /// `hpcml gen ARGUMENTS` in the folder, outside any cluster.
  util::ProcessOutput generate(const std::vector<std::string>& arguments) const;
  /// `hpcml gen FLAGS -- python3 train.py WORDS`, which has to succeed.
  void generate_training(std::vector<std::string> flags, const std::vector<std::string>& words) const;
  /// The text of slurm.out and of what the command printed, after `sbatch -W` of a script with these
  /// directives and body.
  util::ProcessOutput run_job(const std::string& directives, const std::string& body) const;
  const TempDirectory& directory() const { return x_directory; }

private:
  TempDirectory x_directory;
  std::vector<std::string> x_arguments;
};

} // namespace hpcml::test
