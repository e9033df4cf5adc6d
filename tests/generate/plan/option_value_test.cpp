// SPDX-License-Identifier: MIT
// Values of options in a request are what the site's sbatch reads, or every sbatch where the site's is not
// known; and texts that are empty.
#include "plan_helper.hpp"

#include "core/slurm/version.hpp"
#include "generate/plan/option_value.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

model::Site site_with(std::optional<std::string> version) {
  model::Site changed = site_named("lumi");
  changed.slurm_version.reset();
  if (version) changed.slurm_version = model::Sourced<std::string>{*version, {}};
  return changed;
}

} // namespace

TEST_CASE("What every sbatch reads is taken, what every one refuses is refused with what it could be") {
  const std::vector<std::pair<const char*, std::vector<const char*>>> good = {
      {"array", {"0", "0-3", "[31,33]", "0-15%4", "0-15:4", "1,3,5-9:2%1", "0-3%"}},
      {"signal", {"USR1", "B:USR1@60", "SIGTERM@120", "usr2", "10@30", "RB:USR1", "R:10", "USR1@"}},
      {"dependency",
       {"singleton", "Singleton", "afterok:123", "AFTEROK:1", "afterany:1:2,afterok:3", "after:5+10",
        "afterok:123_4?afterok:6", "aftercorr:12_*"}},
      {"comment", {"anything"}}};
  const std::vector<std::pair<const char*, std::vector<const char*>>> bad = {
      {"array", {"x", "5-1", "1;2", "-3", "1 2", "0-10:0"}},
      {"signal", {"FOO", "B:", "USR3@60", "B:USR1@1m", "USR1@70000", "0@60"}},
      {"dependency", {"after", "afterok", "afterok:x", "sometime:12", "afterok:1;rm", "afterok:0"}},
      {"mem-per-cpu", {"4GiB", "1.5G", "x"}},
      {"deadline", {"soon"}}};
  const auto newest = std::string(slurm::name_of(slurm::k_newest_version));
  for (const auto& version : {std::optional<std::string>(), std::optional<std::string>("22.05"),
                              std::optional<std::string>(newest)}) {
    const auto site = site_with(version);
    for (const auto& [option, values] : good)
      for (const auto* value : values) {
        CAPTURE(option, value, version.value_or("any"));
        CHECK_FALSE(plan::find_value_fault(site, option, value));
      }
    for (const auto& [option, values] : bad)
      for (const auto* value : values) {
        CAPTURE(option, value, version.value_or("any"));
        const auto fault = plan::find_value_fault(site, option, value);
        REQUIRE(fault);
        CHECK(fault->hint.starts_with("use "));
      }
  }
}

TEST_CASE("What versions read otherwise is judged by the site's, and is taken where that is not known") {
  CHECK_FALSE(plan::find_value_fault(site_with("23.02"), "gpu-bind", "none"));
  CHECK(plan::find_value_fault(site_with("20.11"), "gpu-bind", "none"));
  CHECK_FALSE(
      plan::find_value_fault(site_with({}), "gpu-bind", "none")); // check says which versions refuse it
  CHECK_FALSE(plan::find_value_fault(site_with({}), "exclusive", "topo"));
}

TEST_CASE("A request's values are refused as sbatch refuses them, however they are given") {
  struct Pair {
    const char* code;
    const char* refused;
    const char* taken;
    void (*give)(model::JobSpec&, const char* value);
  };
  const auto raw = [](model::JobSpec& job, const char* value) { job.sbatch = {text(value)}; };
  const Pair pairs[] = {
      {"usage/array", "5-1", "1-5", [](auto& job, const char* value) { job.array = text(value); }},
      {"usage/signal", "USR1@70000", "USR1@60",
       [](auto& job, const char* value) { job.signal = text(value); }},
      {"usage/sbatch", "--mem-per-cpu=4GiB", "--mem-per-cpu=4G", raw},
      {"usage/sbatch", "--deadline=soon", "--deadline=now+1hour", raw},
      {"usage/sbatch", "--switches=x", "--switches=1", raw},
      {"usage/sbatch", "--gpu-freq=fast", "--gpu-freq=high", raw}};
  for (const auto& [code, refused, taken, give] : pairs) {
    CAPTURE(refused, taken);
    auto job = lumi_job();
    give(job, refused);
    CHECK_THAT(error_of(job, "lumi", code).message, Catch::Contains(refused));
    give(job, taken);
    CHECK(errors_of(job, "lumi").empty());
  }
}

TEST_CASE("An empty value says what to do about it") {
  auto job = lumi_job();
  job.job_name = text("");
  job.hpcml_path = flag<std::string>("", "--hpcml-path");
  job.gpu_type = flag<std::string>("", "--gpu-type");
  for (const auto* code : {"usage/job-name", "usage/hpcml-path"})
    CHECK(error_of(job, "lumi", code).hint.starts_with("set a value, or remove "));
  CHECK(errors_of(job, "lumi").size() >= 3);
}

TEST_CASE("Where memory must be named, memory per CPU names it") {
  auto job = job_of({"./train"});
  job.sbatch = {text("--mem-per-cpu=4G")};
  CHECK(directive(planned(job, "zurada"), "--mem-per-cpu") == "4G");
}
