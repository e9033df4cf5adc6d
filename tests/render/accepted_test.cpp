// SPDX-License-Identifier: MIT
// Every site, with every workload, launcher and partition that its profile allows: real sbatch accepts the script on a Slurm that has all of the site's
// nodes, limits, GPUs, features and rules.
#include <catch2/catch.hpp>

#include <cstdio>
#include <map>

#include "plan/planner.hpp"
#include "render/render_helper.hpp"
#include "render/script.hpp"
#include "spec/site_store.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

model::Sourced<std::string> text(const std::string& value) { return {value, {model::OriginKind::flag, "--x", {}, {}, {}}}; }
model::Sourced<unsigned> number(unsigned value) { return {value, {model::OriginKind::flag, "--x", {}, {}, {}}}; }

struct Workload {
  const char* name;
  void (*change)(model::JobSpec&);
};

// Those of the documents that the product serves.
constexpr Workload k_workloads[] = {
    {"one CPU process", [](model::JobSpec& job) { job.nodes = number(1); job.gpus_per_node = number(0); job.tasks_per_node = number(1); job.cpus_per_task = number(1); }},
    {"several CPUs", [](model::JobSpec& job) { job.nodes = number(1); job.gpus_per_node = number(0); job.tasks_per_node = number(2); job.cpus_per_task = number(4); }},
    {"one GPU", [](model::JobSpec& job) { job.nodes = number(1); job.gpus_per_node = number(1); }},
    {"one node", [](model::JobSpec& job) { job.nodes = number(1); }},
    {"two nodes", [](model::JobSpec& job) { job.nodes = number(2); }},
    {"two GPUs per rank", [](model::JobSpec& job) { job.nodes = number(1); job.gpus_per_node = number(4); job.gpus_per_task = number(2); }},
    {"a container", [](model::JobSpec& job) { job.nodes = number(1); job.container = text("/project/me/torch.sif"); }},
    {"an array", [](model::JobSpec& job) { job.nodes = number(1); job.array = text("0-3%2"); }},
    {"checkpoints", [](model::JobSpec& job) { job.nodes = number(1); job.signal = text("B:USR1@60"); job.requeue = model::Sourced<bool>{true, {}}; }},
    {"a C++ program", [](model::JobSpec& job) { job.nodes = number(1); job.command = {"./train_ddp"}; }},
};

struct Case {
  std::string name;
  std::string script;
  bool over = false; ///< just over a limit: Slurm must refuse it
  bool seeded = false; ///< a name that nobody has: a Slurm that takes it has not tested names
};

/// What of the request the planner takes; the first refusal is kept.
void add_case(std::vector<Case>& cases, unsigned& refused, const std::string& name, const model::JobSpec& job, const model::Site& site) {
  const auto result = plan::make_plan(job, site);
  if (!result.plan || !render::find_unwritable(*result.plan).empty()) {
    ++refused;
    return;
  }
  cases.push_back({name, render::render_script(*result.plan)});
}

/// The script with one option of its header changed to a value that the planner would refuse.
void add_over(std::vector<Case>& cases, const std::string& name, const model::JobSpec& job, const model::Site& site, const std::string& option, const std::string& value) {
  auto result = plan::make_plan(job, site);
  if (!result.plan) return;
  for (auto& directive : result.plan->directives)
    if (directive.name == option) directive.value = value;
  cases.push_back({name, render::render_script(*result.plan), true});
}

/// An account and a QoS that the cluster cannot have, where the site's jobs name one.
void add_seeded(std::vector<Case>& cases, const model::Site& site) {
  auto job = request_for(site);
  choose_partition(job, site);
  if (!job.qos && !site.qos.empty()) job.qos = text(site.qos.front().name);
  const auto before = cases.size();
  if (job.account) add_over(cases, "an account of nobody", job, site, "--account", "nobodys-account");
  if (job.qos) add_over(cases, "a QoS of nobody", job, site, "--qos", "nobodys-qos");
  for (auto i = before; i < cases.size(); ++i) cases[i].seeded = true;
}

/// A job in each partition, at the limits that the profile knows of it.
void add_partitions(std::vector<Case>& cases, unsigned& refused, const model::Site& site) {
  for (const auto& partition : site.partitions) {
    if (partition.node_types.empty()) continue;
    auto job = request_for(site);
    if (partition.nameable) job.partition = text(partition.name);
    else if (!partition.is_default) continue;
    if (partition.cpu_only) job.gpus_per_node = number(0);
    job.nodes = number(partition.max_nodes ? partition.max_nodes->value : partition.min_nodes ? partition.min_nodes->value : 1);
    if (partition.max_time && partition.max_time_by_nodes.empty()) job.time = model::Sourced<model::Walltime>{partition.max_time->value, {}};
    add_case(cases, refused, "partition " + partition.name + " at its limits", job, site);
    if (partition.max_time)
      add_over(cases, "partition " + partition.name + " for too long", job, site, "--time", model::Walltime::of(partition.max_time->value.seconds() + std::chrono::minutes(1)).to_slurm());
    if (partition.max_nodes) add_over(cases, "partition " + partition.name + " on too many nodes", job, site, "--nodes", std::to_string(partition.max_nodes->value + 1));
    job.nodes = number(partition.min_nodes ? partition.min_nodes->value : 1);
    if (!partition.min_time) job.time = model::Sourced<model::Walltime>{*model::Walltime::parse("15"), {}};
    add_case(cases, refused, "partition " + partition.name, job, site);
  }
}

std::vector<Case> cases_of(const model::Site& site, unsigned& refused) {
  std::vector<Case> cases;
  for (const char* launcher : {"hpcml", "torchrun", "srun", "ibrun", "accelerate"})
    for (const auto& workload : k_workloads) {
      auto job = request_for(site);
      job.launcher = model::Sourced<model::Launcher>{model::Launcher::parse(launcher).value(), {}};
      workload.change(job);
      choose_partition(job, site);
      add_case(cases, refused, std::string(workload.name) + " with " + launcher, job, site);
    }
  add_partitions(cases, refused, site);
  add_seeded(cases, site);
  return cases;
}

/// What sbatch says of each script: nothing for those that it takes.
std::map<std::string, std::string> complaints(const std::string& site, const std::vector<Case>& cases, const TempFolder& folder) {
  for (std::size_t i = 0; i < cases.size(); ++i) REQUIRE(util::write_file(folder / std::to_string(i), cases[i].script));
  const auto asked = util::run_process({HPCML_BINARY, "emulate", "--quiet", "--whole-site", "--site", site, "--", "bash", "-c",
                                        "cd \"$1\"\nfor ((i = 0; i < $2; i++)); do answer=$(sbatch --test-only $i 2>&1) || printf '%s\\t%s\\n' $i \"${answer//$'\\n'/ }\"; done; echo asked", "asking",
                                        folder.path().string(), std::to_string(cases.size())},
                                       util::EnvSnapshot::of_process());
  REQUIRE(asked);
  INFO(asked->err);
  REQUIRE(util::ends_with(asked->out, "asked\n"));
  std::map<std::string, std::string> said;
  for (const auto& line : util::split(asked->out, '\n'))
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      said[cases[static_cast<std::size_t>(*util::parse_unsigned(line.substr(0, tab)))].name] = line.substr(tab + 1);
  return said;
}

} // namespace

TEST_CASE("real sbatch accepts what is written for every site", "[slurm]") {
  unsigned sites = 0, scripts = 0, over = 0, refused = 0, names_refused = 0, names_untested = 0;
  for (const auto& id : spec::list_sites({})) {
    const auto load = spec::load_site(id, {});
    REQUIRE(load.site);
    if (load.site->state == model::SiteState::retired || load.site->scheduler != "slurm" || load.site->node_types.empty() || load.site->partitions.empty()) continue;
    const TempFolder folder;
    const auto cases = cases_of(*load.site, refused);
    CAPTURE(id);
    CHECK(cases.size() >= 4);
    auto said = complaints(id, cases, folder);
    for (const auto& asked : cases) {
      CAPTURE(asked.name, said[asked.name]);
      if (asked.seeded) {
        ++(said[asked.name].empty() ? names_untested : names_refused);
        continue;
      }
      CHECK(said[asked.name].empty() == !asked.over);
      ++(asked.over ? over : scripts);
    }
    ++sites;
  }
  CHECK(sites >= 45); // the others' nodes or partitions are not known
  std::printf("%u scripts for %u sites accepted, %u over a limit refused; %u more requests refused by the planner\n", scripts, sites, over, refused);
  // Names are judged by the site's pattern for them; whether a name of the right form exists only Slurm's accounting knows, which this one has not.
  std::printf("names of accounts and QoS: %u wrong ones refused, %u untested\n", names_refused, names_untested);
  CHECK(names_refused >= 4);
}
