// SPDX-License-Identifier: MIT
// Every site with every launcher and many requests: what is printed passes bash -n and shellcheck.
#include <catch2/catch.hpp>

#include <set>

#include "check/check_script.hpp"
#include "core/config/site_store.hpp"
#include "flag_values.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "samples.hpp"

using namespace hpcml;
using test::number;
using test::text;

namespace {

struct Variant {
  const char* name;
  void (*change)(model::JobSpec&);
};

constexpr Variant k_variants[] = {
    {"as it is", [](model::JobSpec&) {}},
    {"a C++ program", [](model::JobSpec& job) { job.command = {"./train_ddp"}; }},
    {"without GPUs",
     [](model::JobSpec& job) {
       job.gpus_per_node = number(0);
       job.tasks_per_node = number(4);
     }},
    {"one GPU", [](model::JobSpec& job) { job.gpus_per_node = number(1); }},
    {"a venv", [](model::JobSpec& job) { job.venv = text("/home/me/my env"); }},
    {"conda", [](model::JobSpec& job) { job.conda = text("my env"); }},
    {"a wheelhouse", [](model::JobSpec& job) { job.wheelhouse = text("torch numpy>=1.20"); }},
    {"a container",
     [](model::JobSpec& job) {
       job.container = text("/images/my image.sif");
       job.binds = {text("/project/me:/workdir")};
     }},
    {"a container with an environment",
     [](model::JobSpec& job) {
       job.container = text("/images/my image.sif");
       job.binds = {text("/project/me:/workdir")};
       job.venv = text("/project/me/my env");
     }},
    {"a container without its activation",
     [](model::JobSpec& job) {
       job.container = text("/i.sif");
       job.container_enter = model::Sourced<bool>{false, {}};
     }},
    {"debugging",
     [](model::JobSpec& job) {
       job.nccl_debug = true;
       job.report = job.preflight = model::Sourced<bool>{true, {}};
       job.srun = {text("--label")};
     }},
    {"hostile names",
     [](model::JobSpec& job) {
       job.job_name = text("a\"b'$(touch pwned)#x");
       job.output = text("$(touch pwned)/%j.out");
       job.env = {{"A", text("$(touch pwned)")}, {"B", text("'\"\\\n")}};
       job.modules = {text("x;touch")};
       job.sbatch = {text("--comment=`touch pwned`#")};
     }},
};

/// What a site refuses, and by which rule; an empty launcher or variant means all of them. Everything else
/// must be printed.
struct Refusal {
  const char* site;
  const char* launcher;
  const char* variant;
  const char* code;
};

constexpr Refusal k_refusals[] = {
    {"local", "", "", "request/scheduler"},
    {"lumi", "ibrun", "", "request/launcher"},
    {"zurada", "ibrun", "", "request/launcher"},
    {"narval", "ibrun", "", "request/launcher"},
    {"generic", "ibrun", "", "request/launcher"},
    {"vista", "srun", "", "request/launcher"},
    // srun's options have nobody to go to
    {"lumi", "ibrun", "debugging", "request/srun"},
    {"zurada", "ibrun", "debugging", "request/srun"},
    {"narval", "ibrun", "debugging", "request/srun"},
    {"generic", "ibrun", "debugging", "request/srun"},
    {"vista", "hpcml", "debugging", "request/srun"},
    {"vista", "torchrun", "debugging", "request/srun"},
    {"vista", "ibrun", "debugging", "request/srun"},
    {"vista", "accelerate", "debugging", "request/srun"},
    {"vista", "deepspeed", "debugging", "request/srun"},
    {"lumi", "", "a wheelhouse", "request/wheelhouse"},
    {"zurada", "", "a wheelhouse", "request/wheelhouse"},
    {"vista", "", "a wheelhouse", "request/wheelhouse"},
    {"generic", "", "a wheelhouse", "request/wheelhouse"},
    {"zurada", "", "a container", "request/container"},
    {"generic", "", "a container", "request/container"},
    {"zurada", "", "a container without its activation", "request/container"},
    {"generic", "", "a container without its activation", "request/container"},
    {"zurada", "", "a container with an environment", "request/container"},
    {"generic", "", "a container with an environment", "request/container"},
};

std::set<std::string> expected_refusals(const std::string& site, const std::string& launcher,
                                        const std::string& variant) {
  std::set<std::string> codes;
  const auto matches = [](const std::string& pattern, const std::string& text) {
    return pattern.empty() || pattern == text;
  };
  for (const auto& refusal : k_refusals)
    if (site == refusal.site && matches(refusal.launcher, launcher) && matches(refusal.variant, variant))
      codes.insert(refusal.code);
  return codes;
}

std::set<std::string> refusals(const diag::Diagnostics& findings) {
  std::set<std::string> codes;
  for (const auto& finding : findings)
    if (finding.severity == diag::Severity::error) codes.insert(finding.code);
  return codes;
}

/// What sbatch would refuse of the script: the site's version of it, or, where that is not known, any.
/// Options of a site's plugins, as Shifter's, only that site knows.
std::string refused_by_sbatch(const std::string& script, const model::Site& site) {
  std::string refusal;
  const auto runs = site.slurm_version ? slurm::parse_version(site.slurm_version->value) : std::nullopt;
  for (std::size_t i = 0; i < slurm::k_version_names.size(); ++i) {
    const auto version = static_cast<slurm::Version>(i);
    if (runs && version != *runs) continue;
    for (const auto& finding : check::check_script("job.sh", script, {version, nullptr}))
      if (finding.what.severity == diag::Severity::error &&
          finding.what.hint.find("plugin of the site") == std::string::npos)
        refusal += std::string(slurm::name_of(version)) + ": " + finding.what.message + "\n";
  }
  return refusal;
}

} // namespace

TEST_CASE("every script for every built-in site passes bash and shellcheck, and what is refused is refused "
          "on purpose") {
  const auto directories = std::vector<std::string>{};
  std::set<std::string> listed;
  for (const auto& refusal : k_refusals) listed.insert(refusal.site);
  std::size_t number_of_scripts = 0;
  for (const auto& id : config::list_sites(directories)) {
    const auto load = config::load_site(id, directories);
    REQUIRE(load.site);
    if (load.site->state == model::SiteState::retired) continue;
    const bool known = listed.erase(id) > 0;
    // A site without rows here gets two launchers, and may refuse what it likes but not everything.
    const std::vector<std::string> launchers =
        known ? std::vector<std::string>{"hpcml", "torchrun", "srun", "ibrun", "accelerate", "deepspeed"}
              : std::vector<std::string>{"hpcml", "torchrun"};
    unsigned printed = 0;
    for (const auto& launcher : launchers) {
      for (const auto& variant : k_variants) {
        CAPTURE(id, launcher, variant.name);
        auto job = test::request_for(*load.site);
        job.launcher = model::Sourced<model::Launcher>{model::Launcher::parse(launcher).value(), {}};
        variant.change(job);
        test::choose_partition(job, *load.site);
        auto result = plan::make_plan(job, *load.site);
        if (known) CHECK(refusals(result.diagnostics) == expected_refusals(id, launcher, variant.name));
        if (!known && !result.plan) {
          job.nodes = number(
              1); // some partitions have jobs of one node only, some do not say how many GPUs a node has
          if (!job.gpus_per_node) job.gpus_per_node = number(1);
          result = plan::make_plan(job, *load.site);
        }
        if (!result.plan) continue;
        REQUIRE(render::find_unwritable(*result.plan).empty());
        const auto script = render::render_script(*result.plan);
        if (test::is_sample(number_of_scripts++)) {
          CHECK(test::script_faults(script) == "");
          CHECK(refused_by_sbatch(script, *load.site) == "");
        }
        CHECK_FALSE(render::render_explain(*result.plan).empty());
        CHECK_FALSE(render::render_interactive(*result.plan).empty());
        CHECK_FALSE(render::render_json(*result.plan).empty());
        ++printed;
      }
    }
    CAPTURE(id);
    CHECK((known || printed >= 4));
  }
  CHECK(listed == std::set<std::string>{});
}
