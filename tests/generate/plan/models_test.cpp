// SPDX-License-Identifier: MIT
// Where Hugging Face's models go, on the product's profiles.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "core/util/process.hpp"
#include "generate/render/line.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

model::Plan plan_on(const std::string& site, std::vector<std::string> command = {"python", "train.py"},
                    const std::string& home = {}) {
  auto job = job_of(std::move(command));
  job.account = text(site == "lumi" ? "project_1" : "def-me");
  job.mem = flag(mem_of("64G"));
  if (site == "zurada") job.partition = text("gpu2h100");
  if (site == "vista") job.mem.reset(), job.account.reset();
  if (site == "lumi") job.partition = text("small-g");
  if (!home.empty()) job.env.push_back({"HF_HOME", text(home)});
  return planned(job, site);
}

/// What the script's line gives under `set -u` in bash with these variables.
std::string in_bash(const model::PlannedEnv& variable, std::map<std::string, std::string> variables) {
  const auto line =
      render::render_line(render::Export{variable.name, variable.value, variable.expression, {}});
  const auto result = util::run_process({"bash", "-uc", line + "; printf %s \"$" + variable.name + "\""},
                                        util::EnvSnapshot(std::move(variables)), std::chrono::seconds(300));
  REQUIRE(result);
  CHECK(result->err.empty());
  return result->out;
}

} // namespace

TEST_CASE("models go to the folder on shared storage that the profile knows, unless they have a place") {
  struct Case {
    const char* site;
    const char* placed;
  };
  for (const auto& [site, placed] :
       {Case{"narval", "/s/huggingface"}, Case{"vista", "/s/huggingface"},
        Case{"zurada", "/work/me/huggingface"}, Case{"fir", "/h/scratch/huggingface"},
        Case{"lumi", "/scratch/project_1/me/huggingface"}}) {
    CAPTURE(site);
    const auto plan = plan_on(site);
    const auto* home = variable(plan, "HF_HOME");
    REQUIRE(home);
    CHECK(home->scope == model::ValueScope::batch);
    CHECK_FALSE(home->origin.source.empty());
    CHECK(in_bash(*home,
                  {{"SCRATCH", "/s"}, {"USER", "me"}, {"HOME", "/h"}, {"SLURM_JOB_ACCOUNT", "project_1"}}) ==
          placed);
    CHECK(in_bash(*home, {{"SCRATCH", "/s"}, {"USER", "me"}, {"HOME", "/h"}, {"HF_HOME", "/mine"}}) ==
          "/mine");
  }
  CHECK(in_bash(*variable(plan_on("narval"), "HF_HOME"), {{"HOME", "/h"}}) ==
        "/h/.cache/huggingface"); // as Hugging Face has it
  const auto planned = plan_on("narval", {"python", "train.py"}, "/data/hf");
  CHECK(variable(planned, "HF_HOME")->value == "/data/hf");
}

TEST_CASE("where no folder is known, or the program is none of Python's, models stay and that is said") {
  for (const auto* site : {"leonardo", "delta"}) {
    CAPTURE(site);
    const auto plan = plan_on(site);
    CHECK(variable(plan, "HF_HOME") == nullptr);
    CHECK(has_note(plan, "HF_HOME"));
  }
  const auto simulated = plan_on("narval", {"./simulate"});
  CHECK(variable(simulated, "HF_HOME") == nullptr);
  CHECK(variable(simulated, "HF_HUB_OFFLINE") == nullptr);
  CHECK_FALSE(has_note(simulated, "HF_HOME"));
}

TEST_CASE("nodes without internet do not look for models there") {
  CHECK(in_bash(*variable(plan_on("narval"), "HF_HUB_OFFLINE"), {}) == "1");
  CHECK(in_bash(*variable(plan_on("narval"), "HF_HUB_OFFLINE"), {{"HF_HUB_OFFLINE", "0"}}) == "0");
  CHECK(variable(plan_on("fir"), "HF_HUB_OFFLINE") == nullptr);     // reaches the internet
  CHECK(variable(plan_on("rorqual"), "HF_HUB_OFFLINE") == nullptr); // has a proxy
}
