// SPDX-License-Identifier: MIT
// Lines of srun and slurmstepd, in the words of 22.05.8.
#include "core/failures/log_messages.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace hpcml;

namespace {

/// "node|tasks|code"; empty: no end of a task.
std::string read(std::string_view line) {
  const auto end = failures::parse_task_end(line);
  if (!end) return {};
  return std::string(end->node) + "|" + std::string(end->tasks) + "|" +
         (end->code ? std::to_string(*end->code) : "");
}

} // namespace

TEST_CASE("ends of tasks are read from srun's lines") {
  CHECK(read("srun: error: nid000001: task 1: Exited with exit code 3") == "nid000001|1|3");
  CHECK(read("srun: error: nid000002: tasks 2-3,7: Exited with exit code 7\r\n") == "nid000002|2-3,7|7");
  CHECK(read("srun: error: n1: task 1: Segmentation fault (core dumped)") == "n1|1|139");
  CHECK(read("srun: error: n1: task 0: Terminated") == "n1|0|143");
  CHECK(read("srun: error: nid[000001-000002]: tasks 0-15: Killed") == "nid[000001-000002]|0-15|137");
  CHECK(read("srun: error: n1: task 0: Out Of Memory") == "n1|0|137");
  CHECK(read("srun: error: n1: task 0: Exited with exit code 256") == "n1|0|");
  CHECK(read("srun: error: n1: task 0: Exited with exit code") == "n1|0|");
  CHECK(read("srun: error: n1: task 0: unknown") == "n1|0|");
  for (const auto* line : {"", "srun: error: ", "srun: error: n1: task", "srun: error: n1: task 3",
                           "srun: error: : task 3: Killed",
                           "srun: error: Unable to create step for job 7: More processors requested",
                           "srun: error: the node n1: task 3: Killed", "srun: n1: task 3: Killed",
                           "I say srun: error: n1: task 1: Exited with exit code 3"})
    CHECK(read(line).empty());
}

TEST_CASE("ends of tasks state whether memory was exhausted") {
  const auto memory = failures::parse_task_end("srun: error: n1: task 0: Out Of Memory");
  REQUIRE(memory);
  CHECK((memory->out_of_memory && !memory->has_exited));
  const auto exited = failures::parse_task_end("srun: error: n1: task 0: Exited with exit code 137");
  REQUIRE(exited);
  CHECK((!exited->out_of_memory && exited->has_exited));
}

TEST_CASE("stops of steps are read from lines of srun and slurmstepd") {
  for (const auto* line :
       {"srun: launch/slurm: _step_signal: Terminating StepId=1.0",
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        "slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-26T17:33:36 ***",
        "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-26T17:33:36 DUE TO TIME LIMIT ***"})
    CHECK(failures::reports_stop(line));
  for (const auto* line : {"", "srun: error: n1: task 0: Killed", "the run was CANCELLED AT noon",
                           "Terminating", "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0."})
    CHECK_FALSE(failures::reports_stop(line));
}
