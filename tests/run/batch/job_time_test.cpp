// SPDX-License-Identifier: MIT
// Time limits and preemptions in what Slurm prints.
#include <catch2/catch.hpp>

#include "run/batch/job_time.hpp"
#include "run/batch/scripted_commands.hpp"

using namespace hpcml;
using namespace hpcml::batch;
using hpcml::testing::ScriptedCommands;

namespace {

std::time_t local_time(int hour, int minute) {
  std::tm time{};
  time.tm_year = 126;
  time.tm_mon = 10;
  time.tm_mday = 26;
  time.tm_hour = hour;
  time.tm_min = minute;
  time.tm_isdst = -1;
  return std::mktime(&time);
}

/// As `scontrol show job` prints it.
std::string record_of(const std::string& restarts, const std::string& preempted) {
  return "JobId=70 JobName=a Restarts=2 PreemptTime=2026-11-26T10:20:00\n   UserId=a(1000) GroupId=a(1000) "
         "MCS_label=N/A\n"
         "   JobState=RUNNING Reason=None Dependency=(null)\n   Requeue=1 Restarts=" +
         restarts +
         " BatchFlag=1 Reboot=0 ExitCode=0:0\n   RunTime=00:10:00 TimeLimit=00:30:00 TimeMin=N/A\n" +
         "   StartTime=2026-11-26T10:00:00 EndTime=2026-11-26T10:30:00 Deadline=N/A\n" +
         "   PreemptEligibleTime=2026-11-26T10:00:00 PreemptTime=" + preempted +
         "\n   SuspendTime=None SecsPreSuspend=0\n";
}

} // namespace

TEST_CASE("parse_end_time reads scontrol's local time") {
  CHECK(parse_end_time(record_of("0", "None")) == local_time(10, 30));
  CHECK(parse_end_time("JobId=70 JobState=RUNNING EndTime=2026-11-26T10:30:00 Deadline=N/A\n") ==
        local_time(10, 30));
  for (const std::string record :
       {"", "slurm_load_jobs error: Unable to contact slurm controller", "JobId=70 JobState=RUNNING",
        "JobId=70 EndTime=2026-11-26T10:30:00", "JobId=70 JobState=COMPLETING EndTime=2026-11-26T10:30:00",
        "JobId=70 JobState=RUNNING EndTime=Unknown", "JobId=70 JobState=RUNNING EndTime=2026-11-26",
        "JobId=70 JobState=RUNNING EndTime=2026-11-26T10:30:00Z",
        "JobId=70 JobState=RUNNING EndTime=1900-01-01T00:00:00"}) {
    INFO(record);
    CHECK(parse_end_time(record) == 0);
  }
}

TEST_CASE("end_time_of_environment reads SLURM_JOB_END_TIME") {
  util::EnvSnapshot env;
  CHECK(end_time_of_environment(env) == 0);
  env.set("SLURM_JOB_END_TIME", "1800000000");
  CHECK(end_time_of_environment(env) == 1'800'000'000);
  for (const char* wrong : {"", "soon", "-1", "1800000000x"}) {
    env.set("SLURM_JOB_END_TIME", wrong);
    CHECK(end_time_of_environment(env) == 0);
  }
}

TEST_CASE("save_times keeps a tenth for the requeue") {
  struct {
    long lead, give_up;
  } const cases[] = {{1, 1}, {10, 1}, {60, 6}, {300, 30}, {301, 30}, {3600, 30}};
  for (const auto& [lead, give_up] : cases) {
    CHECK(save_times(10'000, lead).ask == 10'000 - lead);
    CHECK(save_times(10'000, lead).give_up == 10'000 - give_up);
  }
}

TEST_CASE("is_preempted recognizes a preemption of this start") {
  const auto requests = [](const std::string& output, const std::string& restarts, int code = 0) {
    const ScriptedCommands commands({{"scontrol show job 70", {code, output, ""}}});
    return is_preempted(commands, "70", restarts);
  };
  const std::string time = "2026-11-26T10:20:00";
  CHECK(requests(record_of("3", time), "3"));
  CHECK_FALSE(requests(record_of("3", time), "2")); // of a start before
  CHECK_FALSE(requests(record_of("3", time), "0"));
  CHECK_FALSE(requests(record_of("3", "None"), "3"));
  CHECK_FALSE(requests(record_of("2", "None"), "2")); // its name does not count
  CHECK_FALSE(requests("", "3"));
  CHECK_FALSE(requests(record_of("3", time), "3", 1));
  CHECK(requests("JobId=70 Restarts=0 PreemptTime=2026-11-26T10:20:00\n", ""));
  const ScriptedCommands silent({});
  CHECK_FALSE(is_preempted(silent, "70", "2"));
}

TEST_CASE("is_cancelled recognizes a user's scancel") {
  const auto requests = [](const std::string& output, int code = 0) {
    const ScriptedCommands commands({{"scontrol show job 70", {code, output, ""}}});
    return is_cancelled(commands, "70");
  };
  CHECK(requests("JobId=70 JobName=a\n   JobState=CANCELLED Reason=None Dependency=(null)\n"));
  CHECK_FALSE(requests("JobId=70 JobName=a\n   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)\n"));
  CHECK_FALSE(requests(record_of("0", "None")));
  CHECK_FALSE(requests("JobId=70 JobName=a\n   JobState=CANCELLED Reason=None\n", 1));
  CHECK_FALSE(requests(""));
}
