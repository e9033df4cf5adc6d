// SPDX-License-Identifier: MIT
// Agents as processes: each with its output in files, waited for or sent signals.
#pragma once

#include <string>
#include <sys/types.h>

#include "run/agent/agent_request.hpp"
#include "temp_directory.hpp"

namespace hpcml::testing {

/// `ranks` ranks of `sh -c SCRIPT`; no rank of it waits for one that does not come.
agent::AgentRequest agent_of(unsigned ranks, const std::string& script);
/// The same as one of several agents of this machine that meet at `port`.
agent::AgentRequest agent_at(unsigned port, unsigned ranks, const std::string& script, unsigned nodes);

/// HPCML_JOB_SECRET of all agents of the tests.
std::string secret_of_agents();

/// How an agent ended.
struct AgentEnd {
  int code = 0; ///< 128+signal if it ended by one
  std::string out, err;
  double processor_seconds = 0; ///< its own, and those of the ranks that have ended
};

/// A process that runs an agent; killed where the test does not wait for it.
class AgentProcess {
public:
  AgentProcess(const agent::AgentRequest& request, const std::string& host = "node0", bool has_key = true);
  ~AgentProcess();
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;
  pid_t pid() const { return x_pid; }
  /// Waits, at most two minutes.
  AgentEnd wait();
  std::string out() const;
  /// Waits until `text` stands in its standard output; false after a minute.
  bool shows(const std::string& text) const;

private:
  test::TempDirectory x_directory;
  pid_t x_pid = -1;
};

/// True once no process `pid` runs any more (one that nobody has waited for does not); waits for it up to a
/// minute.
bool is_lost(const std::string& pid);

AgentEnd run_one(const agent::AgentRequest& request);

} // namespace hpcml::testing
