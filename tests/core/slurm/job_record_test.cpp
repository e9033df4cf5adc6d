// SPDX-License-Identifier: MIT
// What scontrol and sacct print about jobs, read and said in words. The texts are Slurm 22.05's.
#include <catch2/catch.hpp>

#include "core/slurm/job_record.hpp"

using namespace hpcml::slurm;

namespace {

const char* const k_two_jobs = R"(JobId=1 JobName=a b=c JobState=COMPLETED X=1
   UserId=root(0) GroupId=root(0) MCS_label=N/A
   Priority=4294901759 Nice=0 Account=project_1 QOS=(null)
   JobState=RUNNING Reason=None Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   RunTime=00:00:01 TimeLimit=00:05:00 TimeMin=N/A
   SubmitTime=2026-11-21T16:45:40 EligibleTime=2026-11-21T16:45:40
   StartTime=2026-11-21T16:45:40 EndTime=2026-11-21T16:50:40 Deadline=N/A
   Partition=small-g AllocNode:Sid=login1:0
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=nid000001
   BatchHost=nid000001
   Command=/home/me/JobState=FAILED x.sh
   WorkDir=/home/me/my work
   StdErr=/tmp/log a b=c X=1-1.out
   StdIn=/dev/null
   StdOut=/tmp/log a b=c X=1-1.out
   Power=


JobId=7 ArrayJobId=2 ArrayTaskId=0-3%1 ArrayTaskThrottle=1 JobName=wrap
   JobState=PENDING Reason=Dependency Dependency=afterok:1(unfulfilled)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   RunTime=00:00:00 TimeLimit=00:05:00 TimeMin=N/A
   StartTime=Unknown EndTime=Unknown Deadline=N/A
   NodeList= SchedNodeList=nid000001
   StdOut=/tmp/log wrap-2_4294967294.out
)";

JobRecord ended(const std::string& state, int exit_code, int signal) {
  JobRecord job;
  job.state = state;
  job.exit_code = exit_code;
  job.signal = signal;
  job.time_limit = "00:05:00";
  return job;
}

} // namespace

TEST_CASE("a started job's log has its first node for %N") {
  const auto log_of = [](const std::string& host) {
    return read_job_records("JobId=1 JobName=a\n   BatchHost=" + host + "\n   StdOut=/tmp/%N-1.out\n")
        .front()
        .log;
  };
  CHECK(log_of("nid000001") == "/tmp/nid000001-1.out");
  CHECK(log_of("nid000001.site.edu") == "/tmp/nid000001-1.out");
  CHECK(read_job_records("JobId=1 JobName=a\n   StdOut=/tmp/%N-1.out\n").front().log == "/tmp/%N-1.out");
}

TEST_CASE("scontrol's records are read whatever people put into names and paths") {
  const auto records = read_job_records(k_two_jobs);
  REQUIRE(records.size() == 2);
  const auto& job = records[0];
  CHECK(job.id == "1");
  CHECK(job.name == "a b=c JobState=COMPLETED X=1");
  CHECK(job.state == "RUNNING");
  CHECK(job.reason == "");
  CHECK(job.nodes == "nid000001");
  CHECK(job.log == "/tmp/log a b=c X=1-1.out");
  CHECK(job.time_limit == "00:05:00");
  CHECK(job.phase() == JobPhase::running);
  CHECK(records[1].array_id == "2");
  CHECK(records[1].array_tasks == "0-3%1");
  CHECK(records[1].reason == "Dependency");
  CHECK(records[1].start == "");
  CHECK(records[1].nodes == "");
  CHECK(read_job_records("").empty());
  CHECK(read_job_records("slurm_load_jobs error: Invalid job id specified\n").empty());
  CHECK(read_job_records("JobId=3").size() == 1);
}

TEST_CASE("sacct's records are read, with who cancelled a job cut off") {
  const auto records = read_accounting(
      "12|12|COMPLETED|0:0|nid[000001-000002]\n13|13|CANCELLED by 1000|0:15|None assigned\n\nnoise\n");
  REQUIRE(records.size() == 2);
  CHECK(records[0].nodes == "nid[000001-000002]");
  CHECK(records[1].state == "CANCELLED");
  CHECK(records[1].signal == 15);
  CHECK(records[1].nodes == "");
  CHECK(records[1].array_id == "");
}

TEST_CASE("every state of Slurm is waiting, running or an end") {
  for (const char* state : {"PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"})
    CHECK(phase_of(state) == JobPhase::waiting);
  for (const char* state : {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STAGE_OUT"})
    CHECK(phase_of(state) == JobPhase::running);
  for (const char* state : {"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "PREEMPTED",
                            "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"})
    CHECK(phase_of(state) == JobPhase::ended);
}

TEST_CASE("a job's end gives the exit code that a program waiting for it returns") {
  CHECK(exit_code_of(ended("COMPLETED", 0, 0)) == 0);
  CHECK(exit_code_of(ended("FAILED", 3, 0)) == 3);
  CHECK(exit_code_of(ended("FAILED", 0, 9)) == 137);
  CHECK(exit_code_of(ended("OUT_OF_MEMORY", 0, 125)) == 137);
  CHECK(exit_code_of(ended("TIMEOUT", 0, 0)) == 1);
  CHECK(exit_code_of(ended("CANCELLED", 0, 15)) == 143);
  CHECK(exit_code_of(ended("NODE_FAIL", 0, 0)) == 1);
}

TEST_CASE("each bad end of a job has a class, and a good one has none") {
  const auto why = [](const JobRecord& job) {
    const auto word = class_of_end(job);
    return word ? hpcml::model::word_of(*word) : "none";
  };
  CHECK(why(ended("COMPLETED", 0, 0)) == "none");
  CHECK(why(ended("FAILED", 3, 0)) == "program");
  CHECK(why(ended("FAILED", 0, 9)) == "program");
  CHECK(why(ended("OUT_OF_MEMORY", 0, 125)) == "out-of-memory");
  CHECK(why(ended("TIMEOUT", 0, 0)) == "time-limit");
  CHECK(why(ended("CANCELLED", 0, 15)) == "user");
  CHECK(why(ended("PREEMPTED", 0, 15)) == "preempted");
  CHECK(why(ended("NODE_FAIL", 0, 0)) == "node");
}

TEST_CASE("why Slurm ended a job is read from its record, while it ends and after") {
  const auto why = [](const std::string& text) {
    const auto records = read_job_records("JobId=3 JobName=a\n   " + text + "\n");
    REQUIRE(records.size() == 1);
    const auto word = why_ended(records[0]);
    return word ? hpcml::model::word_of(*word) : "unknown";
  };
  // 22.05, within the grace after scancel; after a preemption; a node's end
  CHECK(why("JobState=COMPLETING Reason=None\n   PreemptEligibleTime=None PreemptTime=None ExitCode=0:15") ==
        "user");
  CHECK(why("JobState=RUNNING Reason=None\n   PreemptTime=2026-11-26T17:45:01 ExitCode=0:0") == "preempted");
  CHECK(why("JobState=COMPLETING Reason=None\n   PreemptTime=2026-11-26T17:45:01 ExitCode=0:15") ==
        "preempted");
  CHECK(why("JobState=COMPLETING Reason=None\n   PreemptTime=None ExitCode=0:1") == "unknown");
  CHECK(why("JobState=RUNNING Reason=None\n   PreemptTime=None ExitCode=0:0") == "unknown");
  CHECK(why("JobState=CANCELLED Reason=None\n   PreemptTime=None ExitCode=0:15") == "user");
  CHECK(why("JobState=NODE_FAIL Reason=NodeDown\n   PreemptTime=None ExitCode=1:0") == "node");
  CHECK(why("JobState=TIMEOUT Reason=TimeLimit\n   PreemptTime=None ExitCode=0:15") == "time-limit");
}

TEST_CASE("how a job stands is said with its reason and when it may start") {
  JobRecord job;
  job.state = "PENDING";
  job.reason = "Priority";
  job.start = "2026-11-21T17:05:00";
  CHECK(describe_job(job, "2026-11-21T16:45:00") ==
        "pending (Priority: waits for jobs of higher priority), starts about 17:05, in 20 min");
  CHECK(
      describe_job(job, "2026-11-20T16:45:00") ==
      "pending (Priority: waits for jobs of higher priority), starts about 2026-11-21 17:05, in 24 h 20 min");
  CHECK(describe_job(job, "2026-11-21T17:06:00") ==
        "pending (Priority: waits for jobs of higher priority), starts any moment");
  job.start.clear();
  job.reason = "SomethingNew";
  CHECK(describe_job(job, "2026-11-21T17:06:00") == "pending (SomethingNew)");
  job.state = "RUNNING";
  job.nodes = "nid000001";
  CHECK(describe_job(job, "") == "running on nid000001");
  CHECK(describe_job(ended("TIMEOUT", 0, 0), "") == "timeout: reached its time limit of 00:05:00");
  CHECK(describe_job(ended("FAILED", 3, 0), "") == "failed: exit code 3");
  CHECK(describe_job(ended("OUT_OF_MEMORY", 0, 125), "") ==
        "out of memory: requested less memory than it used");
  CHECK(describe_job(ended("COMPLETED", 0, 0), "") == "completed");
}

TEST_CASE("reasons that come in families are known by their beginning, and hopeless ones are told apart") {
  CHECK(explain_reason("AssocGrpCPUMinutesLimit").text.find("account") != std::string::npos);
  CHECK(explain_reason("ReqNodeNotAvail, UnavailableNodes:nid000001").text.find("maintenance") !=
        std::string::npos);
  CHECK(explain_reason("DependencyNeverSatisfied").hopeless);
  CHECK_FALSE(explain_reason("Dependency").hopeless);
  CHECK(explain_reason("Nonsense").text == "");
}

TEST_CASE("times are subtracted over days, months and leap years, and only times") {
  CHECK(seconds_between("2026-11-21T16:45:40", "2026-11-21T16:45:41") == 1);
  CHECK(seconds_between("2028-02-28T23:59:59", "2028-03-01T00:00:00") == 86401);
  CHECK(seconds_between("2026-12-31T00:00:00", "2027-01-01T00:00:00") == 86400);
  CHECK_FALSE(seconds_between("", "2027-01-01T00:00:00"));
  CHECK_FALSE(seconds_between("2026-13-01T00:00:00", "2027-01-01T00:00:00"));
  CHECK_FALSE(seconds_between("2026-11-21 16:45:40", "2027-01-01T00:00:00"));
  CHECK(describe_duration(59) == "59 s");
  CHECK(describe_duration(90) == "2 min");
  CHECK(describe_duration(3 * 3600 + 5 * 60) == "3 h 05 min");
  CHECK(describe_duration(52 * 3600) == "2 d 4 h");
}
