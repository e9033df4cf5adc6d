// SPDX-License-Identifier: MIT
#include "generate/render/site_cases_helper.hpp"

#include <algorithm>
#include <set>

#include "flag_values.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"

namespace hpcml::test {

namespace {

struct Workload {
  const char* name;
  void (*change)(model::JobSpec&);
};

// Those of the documents that the product serves.
constexpr Workload k_workloads[] = {
    {"one CPU process",
     [](model::JobSpec& job) {
       job.nodes = number(1);
       job.gpus_per_node = number(0);
       job.tasks_per_node = number(1);
       job.cpus_per_task = number(1);
     }},
    {"several CPUs",
     [](model::JobSpec& job) {
       job.nodes = number(1);
       job.gpus_per_node = number(0);
       job.tasks_per_node = number(2);
       job.cpus_per_task = number(4);
     }},
    {"one GPU",
     [](model::JobSpec& job) {
       job.nodes = number(1);
       job.gpus_per_node = number(1);
     }},
    {"one node", [](model::JobSpec& job) { job.nodes = number(1); }},
    {"two nodes", [](model::JobSpec& job) { job.nodes = number(2); }},
    {"two GPUs per rank",
     [](model::JobSpec& job) {
       job.nodes = number(1);
       job.gpus_per_node = number(4);
       job.gpus_per_task = number(2);
     }},
    {"a container",
     [](model::JobSpec& job) {
       job.nodes = number(1);
       job.container = text("/project/me/torch.sif");
     }},
    {"an array",
     [](model::JobSpec& job) {
       job.nodes = number(1);
       job.array = text("0-3%2");
     }},
    {"checkpoints",
     [](model::JobSpec& job) {
       job.nodes = number(1);
       job.signal = text("B:USR1@60");
       job.requeue = model::Sourced<bool>{true, {}};
     }},
    {"a C++ program",
     [](model::JobSpec& job) {
       job.nodes = number(1);
       job.command = {"./train_ddp"};
     }},
};

/// An image for each of the site's engines, as each wants it written.
std::set<std::string> images_at(const model::Site& site) {
  std::set<std::string> images;
  for (const auto& rule : site.containers) {
    const bool module = !rule.image_variable.empty();
    switch (rule.engine) {
    case model::ContainerEngine::shifter:
    case model::ContainerEngine::pyxis: images.insert("nersc/pytorch:25.06"); break;
    case model::ContainerEngine::edf: images.insert("/users/me/ngc.toml"); break;
    case model::ContainerEngine::uenv: images.insert("pytorch/v2.9.1"); break;
    default: images.insert(module ? "PyTorch/2.7.1-rocm-6.2.4" : "/project/me/torch.sif"); break;
    }
  }
  return images;
}

/// What of the request the planner takes; the first refusal is kept.
void add_case(std::vector<Case>& cases, unsigned& refused, const std::string& name, const model::JobSpec& job,
              const model::Site& site) {
  const auto result = plan::make_plan(job, site);
  if (!result.plan || !render::find_unwritable(*result.plan).empty()) {
    ++refused;
    return;
  }
  cases.push_back({name, render::render_script(*result.plan), {}, {}});
}

/// The script with one option of its header changed to a value that the planner would refuse; false where the
/// request itself is refused.
bool add_over(std::vector<Case>& cases, const std::string& kind, const model::JobSpec& job,
              const model::Site& site, const std::string& option, const std::string& value,
              const std::string& words = {}) {
  auto result = plan::make_plan(job, site);
  if (!result.plan) return false;
  bool changed = false;
  for (auto& directive : result.plan->directives)
    if (directive.name == option) {
      // What the site puts behind every account stays, or its filter refuses that before Slurm looks.
      const auto written = directive.value.value_or("");
      const auto length = job.account ? job.account->value.size() : 0;
      const bool ending = option == "--account" && length < written.size();
      directive.value = value + (ending ? written.substr(length) : "");
      changed = true;
    }
  if (changed)
    cases.push_back(
        {(job.partition ? job.partition->value + ": " : "") + (job.qos ? job.qos->value + ": " : "") + kind,
         render::render_script(*result.plan), kind, words});
  return changed;
}

/// Each QoS at its limits and just over them, in a partition that takes it.
void add_qos(std::vector<Case>& cases, unsigned& refused, Coverage& coverage, const model::Site& site) {
  for (const auto& qos : site.qos) {
    auto job = request_for(site);
    job.nodes = number(qos.min_nodes ? qos.min_nodes->value : 1);
    job.qos = text(qos.name);
    for (const auto& partition : site.partitions)
      if (!job.partition && partition.nameable && !partition.node_types.empty() && !partition.cpu_only &&
          (qos.partitions.empty() ||
           std::find(qos.partitions.begin(), qos.partitions.end(), partition.name) != qos.partitions.end()))
        job.partition = text(partition.name);
    add_case(cases, refused, "QoS " + qos.name, job, site);
    const auto over = [&](const char* kind, const model::JobSpec& at, const char* option,
                          const std::string& value) {
      if (!add_over(cases, kind, at, site, option, value)) coverage.missed(kind, site.id);
    };
    if (!qos.max_time) coverage.missed("longest time of a QoS", site.id);
    if (!qos.max_nodes) coverage.missed("most nodes of a QoS", site.id);
    if (qos.max_time) {
      auto at = job;
      at.time = model::Sourced<model::Walltime>{qos.max_time->value, {}};
      add_case(cases, refused, "QoS " + qos.name + " at its longest time", at, site);
      over("longest time of a QoS", at, "--time",
           model::Walltime::of(qos.max_time->value.seconds() + std::chrono::minutes(1)).to_slurm());
    }
    if (qos.max_nodes) {
      auto at = job;
      at.nodes = number(qos.max_nodes->value);
      add_case(cases, refused, "QoS " + qos.name + " on its most nodes", at, site);
      over("most nodes of a QoS", at, "--nodes", std::to_string(qos.max_nodes->value + 1));
    }
    if (qos.min_nodes && qos.min_nodes->value > 1)
      over("fewest nodes of a QoS", job, "--nodes", std::to_string(qos.min_nodes->value - 1));
    if (qos.max_gpus) over("most GPUs of a QoS", job, "--nodes", std::to_string(qos.max_gpus->value + 1));
  }
}

/// An account and a QoS of the right form that nobody has, beside those that the person has.
void add_names(std::vector<Case>& cases, unsigned& refused, Coverage& coverage, const model::Site& site) {
  auto job = request_for(site);
  if (const auto account = account_at(site); account && !job.account) job.account = text(*account);
  choose_partition(job, site);
  if (!plan::make_plan(job, site).plan) job.nodes = number(1);
  if (!job.gpus_per_node && !plan::make_plan(job, site).plan)
    job.gpus_per_node = number(1); // some do not say how many a node has
  if (job.account) {
    add_case(cases, refused, "an account of the person's", job, site);
    if (!add_over(cases, "wrong account", job, site, "--account", other_account(site, job.account->value),
                  "Invalid account"))
      coverage.missed("wrong account", site.id);
  }
  const auto rule = site.flags.find("qos");
  const bool forbidden = rule != site.flags.end() && rule->second.policy == model::OptionPolicy::forbidden;
  if (forbidden || (!job.qos && site.qos.empty())) return;
  for (const auto& qos : site.qos)
    if (!job.qos &&
        (qos.partitions.empty() || !job.partition || qos.partitions.front() == job.partition->value))
      job.qos = text(qos.name);
  if (!job.qos || !add_over(cases, "wrong QoS", job, site, "--qos", "nobodys-qos", "Invalid qos"))
    coverage.missed("wrong QoS", site.id);
}

/// A job in each partition, at the limits that the profile knows of it.
void add_partitions(std::vector<Case>& cases, unsigned& refused, Coverage& coverage,
                    const model::Site& site) {
  for (const auto& partition : site.partitions) {
    if (partition.node_types.empty()) continue;
    auto job = request_for(site);
    if (partition.nameable)
      job.partition = text(partition.name);
    else if (!partition.is_default)
      continue;
    if (partition.cpu_only) job.gpus_per_node = number(0);
    job.nodes = number(partition.max_nodes   ? partition.max_nodes->value
                       : partition.min_nodes ? partition.min_nodes->value
                                             : 1);
    if (partition.max_time && partition.max_time_by_nodes.empty())
      job.time = model::Sourced<model::Walltime>{partition.max_time->value, {}};
    add_case(cases, refused, "partition " + partition.name + " at its limits", job, site);
    const auto over = [&](const char* kind, bool known, const char* option, const auto& value) {
      if (!known || !add_over(cases, kind, job, site, option, value())) coverage.missed(kind, site.id);
    };
    over("longest time", partition.max_time.has_value(), "--time", [&] {
      return model::Walltime::of(partition.max_time->value.seconds() + std::chrono::minutes(1)).to_slurm();
    });
    over("most nodes", partition.max_nodes.has_value(), "--nodes",
         [&] { return std::to_string(partition.max_nodes->value + 1); });
    job.nodes = number(partition.min_nodes ? partition.min_nodes->value : 1);
    if (!partition.min_time) job.time = model::Sourced<model::Walltime>{*model::Walltime::parse("15"), {}};
    add_case(cases, refused, "partition " + partition.name, job, site);
  }
}

} // namespace

std::vector<Case> cases_of(const model::Site& site, unsigned& refused, Coverage& coverage) {
  std::vector<Case> cases;
  for (const char* launcher : {"hpcml", "torchrun", "srun", "ibrun", "accelerate"})
    for (const auto& workload : k_workloads) {
      auto job = request_for(site);
      job.launcher = model::Sourced<model::Launcher>{model::Launcher::parse(launcher).value(), {}};
      workload.change(job);
      choose_partition(job, site);
      if (!job.container)
        add_case(cases, refused, std::string(workload.name) + " with " + launcher, job, site);
      else
        for (const auto& image : images_at(site)) {
          job.container = text(image);
          add_case(cases, refused, std::string(workload.name) + " " + image + " with " + launcher, job, site);
        }
    }
  add_partitions(cases, refused, coverage, site);
  add_qos(cases, refused, coverage, site);
  add_names(cases, refused, coverage, site);
  return cases;
}

} // namespace hpcml::test
