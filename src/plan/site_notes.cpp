// SPDX-License-Identifier: MIT
// What a site's profile says to the author of a job: where to submit, what is there, what does not go
// together.
#include <algorithm>

#include "plan/environment.hpp"
#include "plan/plan_context.hpp"
#include "site/submission.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

void note_submission(PlanContext& context) {
  const model::SubmitRule& submit = context.site.submit;
  const auto [hosts, command] = site::submission_of(context.site, context.facts());
  if (!hosts.empty()) context.note("submit it from " + util::join(hosts, " or "), submit.origin);
  if (command) {
    context.plan.submit_command = {command->value, command->origin};
    context.note("submit it with " + command->value, command->origin);
  }
  if (!submit.require_directories.empty())
    context.note("submit it from below " + util::join(submit.require_directories, " or "), submit.origin);
  if (!submit.forbid_directories.empty())
    context.note("do not submit it from below " + util::join(submit.forbid_directories, " or "),
                 submit.origin);
}

/// libgomp binds the first thread as soon as torch is loaded, and data loaders are forked from it.
void note_threads(PlanContext& context) {
  std::vector<std::string> left_out;
  const auto asked_for = [&](const std::string& name) {
    return std::any_of(context.job.env.begin(), context.job.env.end(),
                       [&](const auto& variable) { return variable.first == name; });
  };
  for (const auto& [name, value] : context.site.openmp)
    if (binds_threads(name, value) && !asked_for(name)) left_out.push_back(name + "=" + value);
  if (!left_out.empty())
    context.note(
        util::join(left_out, " and ") +
            " of the site's pages left out: with it `import torch` binds the program to one core, and its "
            "data loaders with it; threads stay on the rank's cores but may move between them (--env "
            "sets it all the same)",
        context.site.openmp_origin);
}

void note_place(PlanContext& context) {
  const model::Site& site = context.site;
  if (context.has_directive("--clusters"))
    context.note("--clusters may send the job elsewhere: it is planned for " + site.name +
                     ", and none of its limits is held against it",
                 by_rule("another cluster has rules of its own"));
  if (!site.until.empty())
    context.warning("site/ends", site.name + " ends on " + site.until + site::cited(site.state_origin),
                    site.successor.empty() ? "" : "its successor is " + site.successor);
  if (context.partition() && context.partition()->on_request)
    context.note("partition " + context.partition()->name + " is open to those who applied for it",
                 context.partition()->origin);
  if (context.qos() && context.qos()->on_request)
    context.note("QoS " + context.qos()->name + " is open to those who applied for it",
                 context.qos()->origin);
  if (context.partition() && !context.partition()->note.empty())
    context.note("partition " + context.partition()->name + ": " + context.partition()->note,
                 context.partition()->origin);
  const bool preemptible = (context.partition() && context.partition()->preemptible) ||
                           (context.qos() && context.qos()->preemptible);
  if (preemptible && !(context.job.requeue && context.job.requeue->value))
    context.note("the job may be stopped for others here: save checkpoints and use --requeue",
                 context.qos() && context.qos()->preemptible ? context.qos()->origin
                                                             : context.partition()->origin);
  if (preemptible && !site.signal_for_preemption.empty() && !context.job.signal)
    context.note("before it is stopped it gets " + site.signal_for_preemption +
                     "; --signal asks for one before the time limit, too",
                 model::Origin{model::OriginKind::site, "signal_for_preemption", {}, {}, {}});
  if (const auto& minutes = site.policies.idle_gpu_minutes; minutes && context.plan.layout.gpus_per_node > 0)
    context.note("jobs whose GPUs idle for " + std::to_string(minutes->value) + " minutes are stopped",
                 minutes->origin);
  const auto arch = context.node() ? context.node()->cpu_arch : model::CpuArch::unknown;
  if (arch != model::CpuArch::unknown && site.login_arch != model::CpuArch::unknown &&
      arch != site.login_arch)
    context.note("the compute nodes are " + model::word_of(arch) + ", the login nodes " +
                     model::word_of(site.login_arch) + ": programs and environments must be made for " +
                     model::word_of(arch),
                 context.node()->origin);
}

/// How many jobs a person may have: of an array, or of a chain, the others wait.
void note_job_counts(PlanContext& context) {
  using model::Limits;
  const auto say = [&](const model::Known<unsigned>& most, const std::string& who, const std::string& what) {
    if (most)
      context.note(who + " lets one user have " + std::to_string(most->value) + " jobs " + what,
                   most->origin);
  };
  const auto& running = context.limit(&Limits::max_jobs);
  if (running)
    say(running, context.limit_owner(&Limits::max_jobs), "running");
  else
    say(context.site.policies.max_jobs, context.site.name, "at a time");
  say(context.limit(&Limits::max_submitted), context.limit_owner(&Limits::max_submitted),
      "queued and running");
}

/// What of a node is not the job's, or not what one thinks.
void note_node(PlanContext& context) {
  const model::NodeType* node = context.node();
  const auto& seen = context.site.gpu_visibility;
  if (context.plan.layout.gpus_per_node > 0 && !seen.why.empty() &&
      context.plan.gpu_visibility.value == seen.mode && !context.job.gpu_visibility)
    context.note("a rank sees " + model::word_of(seen.mode) + " GPUs: " + seen.why, seen.origin);
  if (!node) return;
  const auto& cpu = node->cpu;
  if (!cpu.reserved.empty() && !cpu.reserved_override.empty() &&
      !context.has_directive(cpu.reserved_override.substr(0, cpu.reserved_override.find('='))))
    context.note("CPUs " + cpu.reserved.to_list() + " of each node are the system's; --sbatch=" +
                     cpu.reserved_override + " asks for them, too",
                 node->origin);
  const bool hbm = node->memory_kind == model::MemoryCounted::hbm;
  if (node->memory && (hbm || node->memory_kind == model::MemoryCounted::sum))
    context.note("the memory of node type " + node->id + ", " + node->memory->value.to_slurm() + ", is " +
                     (hbm ? "HBM" : "HBM and the processors' memory together"),
                 node->memory->origin);
}

void note_network(PlanContext& context) {
  const model::NetworkRule& network = context.site.network;
  const bool offline = network.internet_on_compute && !*network.internet_on_compute;
  const bool here =
      context.partition() && context.partition()->internet ? *context.partition()->internet : !offline;
  if (here || !network.internet_on_compute) return;
  if (!network.proxy_module.empty())
    context.note("the compute nodes reach the internet only through a proxy: --module " +
                     network.proxy_module,
                 network.origin);
  else if (network.proxy.empty())
    context.note("the compute nodes do not reach the internet: fetch data and packages before",
                 network.origin);
  if (!network.allowed_hosts.empty())
    context.note("the compute nodes reach only " + util::join(network.allowed_hosts, ", "), network.origin);
}

void note_storage(PlanContext& context) {
  const model::StorageRule& storage = context.site.storage;
  if (!storage.read_only_on_compute.empty())
    context.note("the compute nodes cannot write below " + util::join(storage.read_only_on_compute, ", "),
                 storage.origin);
  if (storage.tmp_is_memory)
    context.note("/tmp is memory here: what lies there counts as the job's", storage.origin);
  if (storage.scratch_days)
    context.note("files on " + (storage.scratch.empty() ? "scratch" : storage.scratch) +
                     " that nobody touched for " + std::to_string(*storage.scratch_days) +
                     " days are removed",
                 storage.origin);
}

/// "NAME" or "NAME=VALUE" among the job's variables.
bool is_set(const model::Plan& plan, const std::string& setting) {
  const auto equals = setting.find('=');
  return std::any_of(plan.env.begin(), plan.env.end(), [&](const auto& variable) {
    return variable.name == setting.substr(0, equals) &&
           (equals == std::string::npos || variable.value == setting.substr(equals + 1));
  });
}

void warn_of_conflicts(PlanContext& context) {
  for (const auto& rule : context.site.conflicts)
    if (!rule.settings.empty() &&
        std::all_of(rule.settings.begin(), rule.settings.end(),
                    [&](const auto& setting) { return is_set(context.plan, setting); }))
      context.warning("request/env",
                      util::join(rule.settings, " and ") + " do not go together on " + context.site.name +
                          ": " + rule.why + site::cited(rule.origin),
                      "leave one of them out");
}

} // namespace

void note_site_rules(PlanContext& context) {
  note_submission(context);
  note_place(context);
  note_threads(context);
  note_job_counts(context);
  note_node(context);
  note_network(context);
  note_storage(context);
  warn_of_conflicts(context);
}

} // namespace hpcml::plan
