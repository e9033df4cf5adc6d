// SPDX-License-Identifier: MIT
// sbatch's answers, and the environment it runs in.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/slurm/submission.hpp"
#include "core/util/process.hpp"

using namespace hpcml;
using namespace hpcml::slurm;

TEST_CASE("the job's number is found among what a site's filter prints") {
  const auto plain = parse_submitted("123\n", "");
  REQUIRE(plain);
  CHECK(plain->id == "123");
  CHECK(plain->messages.empty());
  const auto with_cluster =
      parse_submitted("-----\n Welcome to the system\n-----\n\n--> Verifying access...OK\n77;gpu\n",
                      "sbatch: warning: slow\n");
  REQUIRE(with_cluster);
  CHECK(with_cluster->id == "77");
  CHECK(with_cluster->cluster == "gpu");
  CHECK(with_cluster->messages.back() == "warning: slow");
  // What stands in sbatch's place at a site may not hand --parsable on.
  const auto wrapped = parse_submitted("Submitted batch job 41 on cluster gh\n", "");
  REQUIRE(wrapped);
  CHECK(wrapped->id == "41");
  CHECK(wrapped->cluster == "gh");
  CHECK(wrapped->messages.empty());
  CHECK(parse_submitted("Submitted batch job 42\n", "")->cluster == "");
  CHECK_FALSE(parse_submitted("Submitted\n", ""));
  CHECK_FALSE(parse_submitted("", ""));
}

TEST_CASE("the estimate of --test-only is read from old and new Slurm") {
  for (const char* text : {"sbatch: Job 4 to start at 2026-11-21T17:00:40 using 256 processors on nodes "
                           "nid[000001-000002] in partition small-g\n",
                           "sbatch: job 4 to start at 2026-11-21T17:00:40 a using 256 processors on nodes "
                           "nid[000001-000002] in partition small-g\n",
                           "sbatch: lua: hello\nsbatch: Job 4 to start at 2026-11-21T17:00:40 using 256 "
                           "processors on nodes nid[000001-000002] in partition small-g"}) {
    const auto estimate = parse_estimate(text);
    REQUIRE(estimate);
    CHECK(estimate->start == "2026-11-21T17:00:40");
    CHECK(estimate->nodes == "nid[000001-000002]");
    CHECK(estimate->partition == "small-g");
  }
  CHECK_FALSE(parse_estimate(""));
}

TEST_CASE("a refusal is said once, in Slurm's words, with what to do") {
  struct Case {
    const char* err;
    const char* what;
    const char* hint;
  };
  const Case cases[] = {
      {"sbatch: error: Batch job submission failed: Invalid account or account/partition combination "
       "specified\n",
       "Slurm rejected the job: Invalid account or account/partition combination specified", "sacctmgr"},
      {"sbatch: error: invalid partition specified: nowhere\nallocation failure: Invalid partition name "
       "specified\n",
       "Slurm rejected the job: invalid partition specified: nowhere; Invalid partition name specified",
       "sinfo"},
      {"sbatch: error: LUMI-G: --account is required\nsbatch: error: Batch job submission failed: "
       "Access/permission denied\n",
       "Slurm rejected the job: LUMI-G: --account is required; Access/permission denied", ""},
      {"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n",
       "Slurm rejected the job: Socket timed out on send/recv operation", "squeue --me"},
      {"", "Slurm rejected the job: no reason given", ""},
  };
  for (const auto& test_case : cases) {
    const auto error = explain_refusal(test_case.err);
    CHECK(error.what == test_case.what);
    CHECK(error.hint.find(test_case.hint) != std::string::npos);
    CHECK(error.hint.empty() == std::string(test_case.hint).empty());
  }
}

TEST_CASE("variables that would overrule the script do not reach sbatch, the others do") {
  const util::EnvSnapshot env({{"SBATCH_PARTITION", "debug"},
                               {"SBATCH_QOS", "low"},
                               {"SBATCH_EXPORT", "NONE"},
                               {"SLURM_CONF", "/c"},
                               {"HOME", "/h"},
                               {"SLURM_CPU_BIND", "x"}});
  const auto outside = make_submit_environment(env, {"--partition", "--nodes"});
  CHECK(outside.left_out == std::vector<std::string>{"SBATCH_EXPORT=NONE", "SBATCH_PARTITION=debug"});
  CHECK(outside.env.get("SBATCH_QOS") == "low");
  CHECK(outside.env.get("SLURM_CPU_BIND") == "x");
  auto in_a_job = env;
  in_a_job.set("SLURM_JOB_ID", "5");
  in_a_job.set("SLURM_MEM_PER_NODE", "100");
  const auto inside = make_submit_environment(in_a_job, {"--partition"});
  for (const char* name : {"SLURM_JOB_ID", "SLURM_MEM_PER_NODE", "SLURM_CPU_BIND"})
    CHECK_FALSE(inside.env.get(name));
  CHECK(inside.env.get("SLURM_CONF") == "/c");
  CHECK(inside.env.get("HOME") == "/h");
}

TEST_CASE("a log's pattern is expanded as Slurm does it") {
  const LogPatternValues names{"12", "3", "train", "me"};
  const std::pair<const char*, const char*> cases[] = {{"%x-%j.out", "train-12.out"},
                                                       {"%x-%A_%a.out", "train-12_3.out"},
                                                       {"%5j", "00012"},
                                                       {"100%%", "100%"},
                                                       {"%u/%x", "me/train"},
                                                       {"a%", "a%"},
                                                       {"%q", "%q"},
                                                       {"\\%j", "\\%j"}};
  for (const auto& [pattern, path] : cases) CHECK(expand_log_pattern(pattern, names) == path);
  CHECK(expand_log_pattern("%x-%A_%a.out", {"12", "*", "train", "me"}) == "train-12_*.out");
}

TEST_CASE("is_unreachable detects an answer that comes too late") {
  const auto env = util::EnvSnapshot::of_process();
  const auto late = util::run_process({"sleep", "1000"}, env, std::chrono::milliseconds(20));
  REQUIRE_FALSE(late);
  INFO(late.error().what);
  CHECK(is_unreachable(late.error().what));
  CHECK_FALSE(is_unreachable("sleep exited with code 1"));
}

TEST_CASE("the tasks of an array are counted") {
  const std::pair<const char*, unsigned> cases[] = {{"0-9%2", 10},  {"1,3,10-20:5", 5}, {"7", 1},
                                                    {"0-10:20", 1}, {"0-", 1},          {"x", 0},
                                                    {"", 0},        {"5-3", 0},         {"0-3:0", 0}};
  for (const auto& [array, count] : cases) {
    CAPTURE(array);
    CHECK(count_array_tasks(array) == count);
  }
}
