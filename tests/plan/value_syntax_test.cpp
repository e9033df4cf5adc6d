// SPDX-License-Identifier: MIT
// Arrays, signals and dependencies by Slurm's grammar (what sbatch of 20.11 to 26.05 takes and refuses), and
// texts that are empty.
#include "plan_helper.hpp"

#include "plan/value_syntax.hpp"

using namespace hpcml;
using namespace hpcml::test;

TEST_CASE("What Slurm reads is taken, what it refuses is refused with an example") {
  const std::vector<std::pair<const char*, std::vector<const char*>>> good = {
      {"array", {"0", "0-3", "[31,33]", "0-15%4", "0-15:4", "1,3,5-9:2%1", "0-3%"}},
      {"signal", {"USR1", "B:USR1@60", "SIGTERM@120", "usr2", "10@30", "RB:USR1", "R:10"}},
      {"dependency",
       {"singleton", "afterok:123", "afterany:1:2,afterok:3", "after:5+10", "afterok:123_4?afterok:6",
        "aftercorr:12_*"}},
      {"comment", {"anything"}}};
  for (const auto& [option, values] : good)
    for (const auto* value : values) {
      CAPTURE(option, value);
      CHECK_FALSE(plan::find_value_fault(option, value));
    }
  const std::vector<std::pair<const char*, std::vector<const char*>>> bad = {
      {"array", {"x", "5-1", "1;2", "0-", "-3", "1 2"}},
      {"signal", {"FOO", "USR1@", "B:", "USR3@60", "B:USR1@1m"}},
      {"dependency", {"after", "afterok", "afterok:x", "sometime:12", "afterok:1;rm"}}};
  for (const auto& [option, values] : bad)
    for (const auto* value : values) {
      CAPTURE(option, value);
      REQUIRE(plan::find_value_fault(option, value));
      CHECK(plan::find_value_fault(option, value)->hint.find("write it as") == 0);
    }
  CHECK_FALSE(plan::find_value_fault("array", std::string(100000, '1')));
  auto job = lumi_job();
  job.array = text("5-1");
  error_of(job, "lumi", "usage/array");
}

TEST_CASE("An empty value says what to do about it") {
  auto job = lumi_job();
  job.job_name = text("");
  job.hpcml_path = flag<std::string>("", "--hpcml-path");
  job.gpu_type = flag<std::string>("", "--gpu-type");
  for (const auto* code : {"usage/job-name", "usage/hpcml-path"})
    CHECK(error_of(job, "lumi", code).hint == "give it a value, or leave it out");
  CHECK(errors_of(job, "lumi").size() >= 3);
}

TEST_CASE("Where memory must be named, memory per CPU names it") {
  auto job = job_of({"./train"});
  job.sbatch = {text("--mem-per-cpu=4G")};
  CHECK(directive(planned(job, "zurada"), "--mem-per-cpu") == "4G");
}
