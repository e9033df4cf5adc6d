// SPDX-License-Identifier: MIT
// Every site with every launcher and many requests: what is printed passes bash -n and shellcheck.
#include <catch2/catch.hpp>
#include <regex>

#include "plan/planner.hpp"
#include "render/render_helper.hpp"
#include "render/script.hpp"
#include "spec/site_store.hpp"

using namespace hpcml;

namespace {

model::Sourced<std::string> text(const std::string& value) { return {value, {model::OriginKind::flag, "--x", {}, {}, {}}}; }
model::Sourced<unsigned> number(unsigned value) { return {value, {model::OriginKind::flag, "--x", {}, {}, {}}}; }

/// An account as the site writes it.
std::string valid_value(const model::FlagRule& rule) {
  for (const auto* account : {"me", "def-me", "aip-me", "project_1"})
    if (rule.pattern.empty() || std::regex_match(account, std::regex(rule.pattern))) return account;
  return "me" + rule.suffix;
}

/// The request goes to the first partition of its kind where the site has no default for it.
void choose_partition(model::JobSpec& job, const model::Site& site) {
  const bool gpus = !job.gpus_per_node || job.gpus_per_node->value > 0;
  for (const auto& partition : site.partitions)
    if (partition.cpu_only != gpus && (partition.is_default || !partition.nameable)) return;
  for (const auto& partition : site.partitions)
    if (partition.cpu_only != gpus && !job.partition) job.partition = text(partition.name);
}

model::JobSpec basic_request(const model::Site& site) {
  model::JobSpec job;
  job.command = {"python", "train.py", "--note", "it's $HOME"};
  job.nodes = number(2);
  job.time = model::Sourced<model::Walltime>{*model::Walltime::parse("15"), {}};
  job.hpcml_path = text("/opt/hpcml/bin/hpcml");
  if (const auto account = site.flags.find("account"); account != site.flags.end() && account->second.policy == model::Policy::required)
    job.account = text(valid_value(account->second));
  if (const auto mem = site.flags.find("mem"); mem != site.flags.end() && mem->second.policy == model::Policy::required)
    job.mem = model::Sourced<model::MemSize>{*model::MemSize::parse("16G"), {}};
  if (site.node_types.empty()) job.gpus_per_node = number(1);
  return job;
}

struct Variant {
  const char* name;
  void (*change)(model::JobSpec&);
};

constexpr Variant k_variants[] = {
    {"as it is", [](model::JobSpec&) {}},
    {"a C++ program", [](model::JobSpec& job) { job.command = {"./train_ddp"}; }},
    {"without GPUs", [](model::JobSpec& job) { job.gpus_per_node = number(0); job.tasks_per_node = number(4); }},
    {"one GPU", [](model::JobSpec& job) { job.gpus_per_node = number(1); }},
    {"a venv", [](model::JobSpec& job) { job.venv = text("/home/me/my env"); }},
    {"conda", [](model::JobSpec& job) { job.conda = text("my env"); }},
    {"a wheelhouse", [](model::JobSpec& job) { job.wheelhouse = text("torch numpy>=1.20"); }},
    {"a container", [](model::JobSpec& job) { job.container = text("/images/my image.sif"); job.binds = {text("/project/me:/workdir")}; }},
    {"a container without its activation",
     [](model::JobSpec& job) { job.container = text("/i.sif"); job.container_enter = model::Sourced<bool>{false, {}}; }},
    {"debugging", [](model::JobSpec& job) { job.nccl_debug = job.report = job.preflight = true; job.srun = {text("--label")}; }},
    {"hostile names",
     [](model::JobSpec& job) {
       job.job_name = text("a\"b'$(touch pwned)#x");
       job.output = text("$(touch pwned)/%j.out");
       job.env = {{"A", text("$(touch pwned)")}, {"B", text("'\"\\\n")}};
       job.modules = {text("x;touch")};
       job.sbatch = {text("--comment=`touch pwned`#")};
     }},
};

} // namespace

TEST_CASE("every script for every built-in site passes bash and shellcheck") {
  const auto folders = std::vector<std::string>{};
  unsigned printed = 0;
  for (const auto& id : spec::list_sites(folders)) {
    const auto load = spec::load_site(id, folders);
    REQUIRE(load.site);
    if (load.site->state == model::SiteState::retired || load.site->scheduler == "none") continue;
    unsigned here = 0;
    for (const auto* launcher : {"hpcml", "torchrun", "srun", "ibrun", "accelerate", "deepspeed"}) {
      for (const auto& variant : k_variants) {
        CAPTURE(id, launcher, variant.name);
        auto job = basic_request(*load.site);
        job.launcher = text(launcher);
        variant.change(job);
        choose_partition(job, *load.site);
        auto result = plan::make_plan(job, *load.site);
        if (!result.plan) {
          job.nodes = number(1); // some partitions have jobs of one node only
          result = plan::make_plan(job, *load.site);
        }
        if (!result.plan) continue; // the site cannot do it and says so
        REQUIRE(render::find_unwritable(*result.plan).empty());
        CHECK(test::script_faults(render::render_script(*result.plan)) == "");
        CHECK_FALSE(render::render_explain(*result.plan).empty());
        CHECK_FALSE(render::render_interactive(*result.plan).empty());
        CHECK_FALSE(render::render_json(*result.plan).empty());
        ++here;
      }
    }
    CAPTURE(id);
    CHECK(here >= 20);
    printed += here;
  }
  CHECK(printed > 150);
}
