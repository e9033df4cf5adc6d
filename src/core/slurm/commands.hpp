// SPDX-License-Identifier: MIT
// Asking Slurm's own commands, live or from what they once printed.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/process.hpp"

namespace hpcml::slurm {

/// What a command said, or why it could not be asked.
struct Answer {
  std::vector<std::string> words; ///< the command
  bool executed = false;          ///< false: it is not here, took too long, or has no record
  util::ProcessOutput output;     ///< empty if it was not asked
  std::string why_not;            ///< one sentence when it was not asked or refused; empty when all is well
  bool ok() const { return executed && output.exit_code == 0; }
  std::string command() const; ///< the words with spaces between them, for users
};

/// Runs a command to its end. The commands are distinguished by their words, so a record can stand for them.
class Commands {
public:
  virtual ~Commands() = default;
  virtual Answer ask(const std::vector<std::string>& words) const = 0;
};

/// Runs a command of this machine to its end, without a shell, `input` on its standard input; one that takes
/// longer is stopped.
Answer run_command(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                   std::chrono::milliseconds limit, const std::string& input = {});
/// Maximum time to wait for an answer of Slurm's daemons about a job or some nodes: a controller that needs
/// longer is down or overloaded.
inline constexpr std::chrono::seconds k_answer_timeout(10);
/// The same for questions about all nodes and modules of a cluster.
inline constexpr std::chrono::seconds k_survey_timeout(60);

/// The environment with times and words in the form that is read here, whatever the user likes.
util::EnvSnapshot make_plain(util::EnvSnapshot env);

/// The commands of this machine, without the variables by which users change what they print.
class LiveCommands : public Commands {
public:
  explicit LiveCommands(const util::EnvSnapshot& env, std::chrono::milliseconds limit = k_answer_timeout);
  Answer ask(const std::vector<std::string>& words) const override;

private:
  util::EnvSnapshot x_env;
  std::chrono::milliseconds x_limit;
};

/// Reads what the commands printed elsewhere: one file per command in a directory, as save_answer writes
/// them.
class RecordedCommands : public Commands {
public:
  explicit RecordedCommands(std::filesystem::path directory) : x_directory(std::move(directory)) {}
  Answer ask(const std::vector<std::string>& words) const override;

private:
  std::filesystem::path x_directory;
};

/// The file's name for a command: "scontrol-o-show-partition.txt".
std::string record_name(const std::vector<std::string>& words);
/// Writes what an asked command printed into the directory, which must exist; nothing for one that was not
/// asked or failed.
util::Status save_answer(const Answer& answer, const std::filesystem::path& directory);

} // namespace hpcml::slurm
