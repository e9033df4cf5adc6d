// SPDX-License-Identifier: MIT
// A job script that `hpcml internal batch` runs, with commands of Slurm that the test writes.
#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "temp_directory.hpp"

namespace hpcml::testing {

/// Job 70 in a directory of its own. Its srun is fake_srun.cpp; the other commands append their words to the
/// log and succeed. What is left of it ends with this object.
class BatchRun {
public:
  BatchRun();
  ~BatchRun();
  BatchRun(const BatchRun&) = delete;
  BatchRun& operator=(const BatchRun&) = delete;

  /// Writes a command of Slurm; after its words are logged it does what the bash text `body` says.
  void set_command(const std::string& name, const std::string& body);
  void set(const std::string& name, const std::string& value) { x_env.set(name, value); }
  /// `scontrol show job` prints `record`, once `line` is in the log.
  void set_record(const std::string& record, const std::string& line = {});

  /// Starts `hpcml internal batch OPTIONS -- bash job.sh ARGUMENTS`.
  void start(const std::vector<std::string>& options, const std::string& script,
             const std::vector<std::string>& arguments = {});
  /// Starts the script itself, as Slurm does.
  void start_script(const std::string& script);
  /// Waits for a text in the log, or in what the job prints. Throws if it does not come.
  void wait_for(const std::string& text) const;
  void signal(int number) const;
  /// Sends a signal to all steps of the job.
  void signal_steps(int number) const;
  /// The exit code of the command, 128 + signal if it was killed.
  int wait();
  /// start and wait.
  int run(const std::vector<std::string>& options, const std::string& script,
          const std::vector<std::string>& arguments = {});
  /// True if processes of the job are left a minute after its end.
  bool has_leftovers() const;

  /// Lines of the commands and steps, in the order in which they ran.
  std::string log() const;
  /// The log without the questions to Slurm and the requests to save.
  std::string actions() const;
  /// What the job prints, its messages too.
  std::string output() const;
  std::filesystem::path path(const std::string& name) const { return x_directory / name; }

private:
  void start_program(std::vector<std::string> words);

  test::TempDirectory x_directory;
  util::EnvSnapshot x_env;
  pid_t x_pid = 0; ///< 0: it does not run
  pid_t x_group = 0;
};

/// True once `pid` has ended. Throws if it does not.
bool has_ended(pid_t pid);
/// The number in a file that the job writes. Throws if it does not come.
pid_t read_pid(const std::filesystem::path& file);

} // namespace hpcml::testing
