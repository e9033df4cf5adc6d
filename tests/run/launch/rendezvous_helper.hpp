// SPDX-License-Identifier: MIT
// Steps of real launchers, one for each rank, on this machine.
#pragma once

#include <string>
#include <vector>

#include "run/launch/process_helper.hpp"
#include "run/store/listen.hpp"

namespace hpcml::testing {

/// What srun gives a task of a step of this machine's own name: jobs are told apart by number.
util::EnvSnapshot task(unsigned rank, unsigned ranks, unsigned job);
std::vector<util::EnvSnapshot> tasks_of(unsigned ranks, unsigned job);
/// HPCML_JOB_SECRET of a job's tasks.
std::string secret_of(unsigned job);
/// A number that no other process of these tests uses.
unsigned new_job();
/// The first port at which the ranks of a job's step 0 meet.
unsigned port_of_job(unsigned job);

/// `hpcml launch` with these flags and a bash script.
std::vector<std::string> launch_words(const std::string& script, std::vector<std::string> flags = {});
/// What a rank has said, and its exit code.
struct Said {
  std::string out, err;
  int code = -1;
};
/// Starts the ranks; by rank.
std::vector<Said> run_step(const std::vector<util::EnvSnapshot>& tasks,
                           const std::vector<std::string>& words);

/// A bash script whose standard output is read line by line.
class Shell {
public:
  Shell(const std::string& script, const util::EnvSnapshot& env);
  ~Shell();
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  std::string read_line() const;
  void signal(int number) const;

private:
  pid_t x_pid;
  int x_out;
};

/// Listens where it is told to, and says nothing to anybody.
class Squatter {
public:
  explicit Squatter(unsigned port);
  ~Squatter();

private:
  util::Result<store::ListeningSockets> x_listening;
};

/// Whether somebody listens at 127.0.0.1.
bool answers(unsigned port);
/// Whether within some seconds nobody does.
bool falls_silent(unsigned port);

} // namespace hpcml::testing
