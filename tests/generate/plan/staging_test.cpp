// SPDX-License-Identifier: MIT
// What is copied to the nodes' own disks, on the product's profiles.
#include <catch2/catch.hpp>

#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

model::JobSpec staged(std::vector<std::string> sources) {
  auto job = job_of({"python", "train.py"});
  job.account = text("def-me");
  for (const auto& source : sources) job.stage.push_back(flag<std::string>(source, "--stage"));
  return job;
}

} // namespace

TEST_CASE(
    "data goes to the folder that Slurm gives the job, or to one of the job's own that the script removes") {
  const auto narval = planned(staged({"/project/me/data/", "/project/me/labels.csv"}), "narval");
  REQUIRE(narval.stage);
  CHECK(narval.stage->directory == "$SLURM_TMPDIR/stage");
  CHECK_FALSE(narval.stage->remove);
  CHECK(narval.stage->sources[0].value == "/project/me/data");

  auto job = staged({"/lustre/orion/me/data"});
  job.account = text("abc123");
  const auto frontier = planned(job, "frontier");
  REQUIRE(frontier.stage);
  CHECK(frontier.stage->directory ==
        "/mnt/bb/$USER/hpcml-$UID-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}-stage");
  CHECK(frontier.stage->remove);
  CHECK(directive(frontier, "--constraint") == "nvme"); // the site gives the disks to those who ask
}

TEST_CASE("a packed environment is unpacked on each node, with the modules of its kind") {
  auto job = staged({});
  job.account = text("abc123");
  job.conda = text("/lustre/orion/me/env.tar.gz");
  const auto plan = planned(job, "frontier");
  CHECK(plan.python.kind == model::PythonEnvironmentKind::packed);
  CHECK(plan.python.where == plan.stage->directory + "/env");
  CHECK(plan.stage->sources.empty());
  CHECK(std::any_of(plan.modules.begin(), plan.modules.end(),
                    [](const auto& module) { return module.name == "miniforge3/23.11.0-0"; }));
}

TEST_CASE("memory in place of a disk is said") {
  auto job = lumi_job();
  job.stage.push_back(flag<std::string>("/scratch/project_1/data", "--stage"));
  CHECK(has_note(planned(job, "lumi"), "staged files are in memory"));
}

TEST_CASE("what cannot be staged is refused") {
  CHECK_THAT(error_of(staged({"/a/data", "/b/data"}), "narval", "usage/stage").message,
             Catch::Contains("have the same last part 'data'"));
  CHECK_THAT(error_of(staged({"/"}), "narval", "usage/stage").message,
             Catch::Contains("not the absolute path of a file or directory"));
  CHECK_THAT(error_of(staged({"/a/.."}), "narval", "usage/stage").message,
             Catch::Contains("not the absolute path of a file or directory"));
  CHECK_THAT(error_of(staged({"/a\nb"}), "narval", "usage/stage").message,
             Catch::Contains("not the absolute path of a file or directory"));
  auto job = job_of({"python", "train.py"});
  job.stage.push_back(flag<std::string>("/a", "--stage"));
  CHECK_THAT(error_of(job, "generic", "request/stage").message, Catch::Contains("no node-local storage"));
}
