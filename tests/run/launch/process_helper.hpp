// SPDX-License-Identifier: MIT
// The built hpcml as a process: run to its end, or started and watched.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/process.hpp"

namespace hpcml::testing {

/// PATH and nothing else, as far as a rank can tell.
util::EnvSnapshot bare_environment();
/// What srun gives task `rank` of a step on one node of `ranks` tasks.
util::EnvSnapshot step_environment(unsigned rank, unsigned ranks);

/// Runs `hpcml WORDS…`; at most 60 s.
util::ProcessOutput run_hpcml(const std::vector<std::string>& words, const util::EnvSnapshot& env);

/// A shell line; more than 20 s fail the test.
util::ProcessOutput run_line(const std::string& line, const util::EnvSnapshot& env = bare_environment());

/// A running hpcml whose standard output (and error, where asked) is read line by line.
class Running {
public:
  Running(const std::vector<std::string>& words, const util::EnvSnapshot& env, bool errors_too = false);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  pid_t pid() const { return x_pid; }
  std::string read_line();
  void signal(int number) const;
  /// Waits for the end: its exit code, 128+signal if it was killed.
  int wait();

private:
  pid_t x_pid = -1;
  int x_out = -1;
};

/// True once no process `pid` is left; waits for it up to 10 s.
bool is_lost(pid_t pid);
/// True once nothing is called `path` any more; waits for it up to 10 s.
bool is_removed(const std::string& path);
/// A fresh empty folder below /tmp.
std::string make_directory();

} // namespace hpcml::testing
