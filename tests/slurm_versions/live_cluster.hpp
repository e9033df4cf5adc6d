// SPDX-License-Identifier: MIT
// A private slurmctld with the nodes and partitions on which the cases were measured; its nodes are drained,
// nothing ever runs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::agree {

/// A script and what sbatch is given beside it.
struct Case {
  std::string id;
  std::string group;
  std::string script;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
};

/// What sbatch made of a case.
struct Answer {
  bool accepted = false; ///< without --hold
  bool held_accepted = false;
  std::string message; ///< of a refusal
  std::vector<std::map<std::string, std::string>>
      components; ///< of the held job: `scontrol show job` beside a plain job's, normalised
};

class LiveCluster {
public:
  /// Starts the slurmctld of the Slurm under `prefix` ("/usr") in a folder of its own; an error where it does
  /// not answer.
  static util::Result<LiveCluster> start(const std::filesystem::path& prefix);
  LiveCluster(LiveCluster&& other) noexcept;
  LiveCluster& operator=(LiveCluster&&) = delete;
  ~LiveCluster();

  /// The series of the commands ("22.05").
  const std::string& version() const { return x_version; }
  /// Submits the case as it is and held, looks at the held job and cancels both.
  util::Result<Answer> ask(const Case& item);

  using Fields = std::map<std::string, std::string>;

private:
  LiveCluster() = default;
  util::Result<std::string> run(std::vector<std::string> words,
                                const std::map<std::string, std::string>& more = {},
                                std::string* error = nullptr);
  util::Result<std::string> submit(const Case& item, bool held, std::string& message);
  std::vector<Fields> show(const std::string& job);
  util::Status start_controller();
  bool wait_until_up();
  void write_configuration(int port) const;

  std::filesystem::path x_prefix;
  std::filesystem::path x_directory;
  std::string x_version;
  Fields x_plain;
  pid_t x_controller = -1;
};

} // namespace hpcml::agree
