// SPDX-License-Identifier: MIT
// What a site's profile says to the author of a job: where to submit, what is there, what does not go
// together.
#include <algorithm>

#include "plan/directives.hpp"
#include "plan/environment.hpp"
#include "site/submission.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

/// libgomp binds the first thread as soon as torch is loaded, and data loaders are forked from it.
void note_threads(const LaidOut& given, Remarks& diagnostics) {
  std::vector<std::string> left_out;
  const auto asked_for = [&](const std::string& name) {
    return std::any_of(given.job.env.begin(), given.job.env.end(),
                       [&](const auto& variable) { return variable.first == name; });
  };
  for (const auto& [name, value] : given.site.openmp)
    if (binds_threads(name, value) && !asked_for(name)) left_out.push_back(name + "=" + value);
  if (!left_out.empty())
    diagnostics.note(
        util::join(left_out, " and ") +
            " of the site's pages left out: with it `import torch` binds the program to one core, and its "
            "data loaders with it; threads stay on the rank's cores but may move between them (--env "
            "sets it all the same)",
        given.site.openmp_origin);
}

void note_place(const LaidOut& given, const Directives& directives, Remarks& diagnostics) {
  const model::Site& site = given.site;
  if (directives.has("--clusters"))
    diagnostics.note("--clusters may send the job elsewhere: it is planned for " + site.name +
                  ", and none of its limits is held against it",
              by_rule("another cluster has rules of its own"));
  if (!site.until.empty())
    diagnostics.warning("site/ends", site.name + " ends on " + site.until + site::cited(site.state_origin),
                 site.successor.empty() ? "" : "its successor is " + site.successor);
  if (given.partition() && given.partition()->on_request)
    diagnostics.note("partition " + given.partition()->name + " is open to those who applied for it",
              given.partition()->origin);
  if (given.qos() && given.qos()->on_request)
    diagnostics.note("QoS " + given.qos()->name + " is open to those who applied for it", given.qos()->origin);
  if (given.partition() && !given.partition()->note.empty())
    diagnostics.note("partition " + given.partition()->name + ": " + given.partition()->note,
              given.partition()->origin);
  const bool preemptible =
      (given.partition() && given.partition()->preemptible) || (given.qos() && given.qos()->preemptible);
  if (preemptible && !(given.job.requeue && given.job.requeue->value))
    diagnostics.note("the job may be stopped for others here: save checkpoints and use --requeue",
              given.qos() && given.qos()->preemptible ? given.qos()->origin : given.partition()->origin);
  if (preemptible && !site.signal_for_preemption.empty() && !given.job.signal)
    diagnostics.note("before it is stopped it gets " + site.signal_for_preemption +
                  "; --signal asks for one before the time limit, too",
              model::Origin{model::OriginKind::site, "signal_for_preemption", {}, {}, {}});
  if (const auto& minutes = site.policies.idle_gpu_minutes; minutes && given.numbers().gpus_per_node > 0)
    diagnostics.note("jobs whose GPUs idle for " + std::to_string(minutes->value) + " minutes are stopped",
              minutes->origin);
  const auto arch = given.node() ? given.node()->cpu_arch : model::CpuArch::unknown;
  if (arch != model::CpuArch::unknown && site.login_arch != model::CpuArch::unknown &&
      arch != site.login_arch)
    diagnostics.note("the compute nodes are " + model::word_of(arch) + ", the login nodes " +
                  model::word_of(site.login_arch) + ": programs and environments must be made for " +
                  model::word_of(arch),
              given.node()->origin);
}

/// How many jobs a person may have: of an array, or of a chain, the others wait.
void note_job_counts(const LaidOut& given, Remarks& diagnostics) {
  using model::Limits;
  const auto say = [&](const model::Known<unsigned>& most, const std::string& who, const std::string& what) {
    if (most)
      diagnostics.note(who + " lets one user have " + std::to_string(most->value) + " jobs " + what, most->origin);
  };
  const auto& running = given.limit(&Limits::max_jobs);
  if (running)
    say(running, given.limit_owner(&Limits::max_jobs), "running");
  else
    say(given.site.policies.max_jobs, given.site.name, "at a time");
  say(given.limit(&Limits::max_submitted), given.limit_owner(&Limits::max_submitted), "queued and running");
}

/// What of a node is not the job's, or not what one thinks.
void note_node(const Equipped& given, const Directives& directives, Remarks& diagnostics) {
  const model::NodeType* node = given.node();
  const auto& seen = given.site.gpu_visibility;
  if (given.numbers().gpus_per_node > 0 && !seen.why.empty() &&
      given.software.gpu_visibility.value == seen.mode && !given.job.gpu_visibility)
    diagnostics.note("a rank sees " + model::word_of(seen.mode) + " GPUs: " + seen.why, seen.origin);
  if (!node) return;
  const auto& cpu = node->cpu;
  if (!cpu.reserved.empty() && !cpu.reserved_override.empty() &&
      !directives.has(cpu.reserved_override.substr(0, cpu.reserved_override.find('='))))
    diagnostics.note("CPUs " + cpu.reserved.to_list() +
                  " of each node are the system's; --sbatch=" + cpu.reserved_override + " asks for them, too",
              node->origin);
  const bool hbm = node->memory_kind == model::MemoryCounted::hbm;
  if (node->memory && (hbm || node->memory_kind == model::MemoryCounted::sum))
    diagnostics.note("the memory of node type " + node->id + ", " + node->memory->value.to_slurm() + ", is " +
                  (hbm ? "HBM" : "HBM and the processors' memory together"),
              node->memory->origin);
}

void note_network(const LaidOut& given, Remarks& diagnostics) {
  const model::NetworkRule& network = given.site.network;
  const bool offline = network.internet_on_compute && !*network.internet_on_compute;
  const bool is_used =
      given.partition() && given.partition()->internet ? *given.partition()->internet : !offline;
  if (is_used || !network.internet_on_compute) return;
  if (!network.proxy_module.empty())
    diagnostics.note("the compute nodes reach the internet only through a proxy: --module " + network.proxy_module,
              network.origin);
  else if (network.proxy.empty())
    diagnostics.note("the compute nodes do not reach the internet: fetch data and packages before", network.origin);
  if (!network.allowed_hosts.empty())
    diagnostics.note("the compute nodes reach only " + util::join(network.allowed_hosts, ", "), network.origin);
}

void note_storage(const LaidOut& given, Remarks& diagnostics) {
  const model::StorageRule& storage = given.site.storage;
  if (!storage.read_only_on_compute.empty())
    diagnostics.note("the compute nodes cannot write below " + util::join(storage.read_only_on_compute, ", "),
              storage.origin);
  if (storage.tmp_is_memory)
    diagnostics.note("/tmp is memory here: what lies there counts as the job's", storage.origin);
  if (storage.scratch_days)
    diagnostics.note("files on " + (storage.scratch.empty() ? "scratch" : storage.scratch) +
                  " that nobody touched for " + std::to_string(*storage.scratch_days) + " days are removed",
              storage.origin);
}

/// "NAME" or "NAME=VALUE" among the job's variables.
bool is_set(const Software& software, const std::string& setting) {
  const auto equals = setting.find('=');
  return std::any_of(software.env.begin(), software.env.end(), [&](const auto& variable) {
    return variable.name == setting.substr(0, equals) &&
           (equals == std::string::npos || variable.value == setting.substr(equals + 1));
  });
}

void warn_of_conflicts(const Equipped& input, Remarks& diagnostics) {
  for (const auto& rule : input.site.conflicts)
    if (!rule.settings.empty() && input.applies(rule.when) &&
        std::all_of(rule.settings.begin(), rule.settings.end(),
                    [&](const auto& setting) { return is_set(input.software, setting); }))
      diagnostics.warning("request/env",
                   util::join(rule.settings, " and ") + " do not go together on " + input.site.name + ": " +
                       rule.why + site::cited(rule.origin),
                   "leave one of them out");
}

} // namespace

Told<model::Sourced<std::string>> plan_submission(const LaidOut& given) {
  Told<model::Sourced<std::string>> result{{"sbatch", {}}};
  auto& [command, diagnostics] = result;
  const model::SubmitRule& submit = given.site.submit;
  const auto [hosts, own] = site::submission_of(given.site, given.facts());
  if (!hosts.empty()) diagnostics.note("submit it from " + util::join(hosts, " or "), submit.origin);
  if (own) {
    command = {own->value, own->origin};
    diagnostics.note("submit it with " + own->value, own->origin);
  }
  if (!submit.require_directories.empty())
    diagnostics.note("submit it from below " + util::join(submit.require_directories, " or "), submit.origin);
  if (!submit.forbid_directories.empty())
    diagnostics.note("do not submit it from below " + util::join(submit.forbid_directories, " or "), submit.origin);
  return result;
}

Remarks note_site_rules(const Equipped& given, const Directives& directives) {
  Remarks diagnostics;
  note_place(given, directives, diagnostics);
  note_threads(given, diagnostics);
  note_job_counts(given, diagnostics);
  note_node(given, directives, diagnostics);
  note_network(given, diagnostics);
  note_storage(given, diagnostics);
  warn_of_conflicts(given, diagnostics);
  return diagnostics;
}

} // namespace hpcml::plan
