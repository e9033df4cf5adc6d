// SPDX-License-Identifier: MIT
// What a site's profile says to the author of a job: where to submit, what exists, what does not go together.
#include <algorithm>
#include <fmt/format.h>

#include "core/site_rules/submission_request.hpp"
#include "core/util/text.hpp"
#include "generate/plan/directives.hpp"
#include "generate/plan/environment.hpp"

namespace hpcml::plan {
namespace {

/// libgomp binds the first thread as soon as torch is loaded, and data loaders are forked from it.
void note_threads(const RequestWithLayout& input, PlanStepDiagnostics& diagnostics) {
  std::vector<std::string> left_out;
  const auto is_requested = [&](const std::string& name) {
    return std::any_of(input.job.env.begin(), input.job.env.end(),
                       [&](const auto& variable) { return variable.first == name; });
  };
  for (const auto& [name, value] : input.site.openmp)
    if (binds_threads(name, value) && !is_requested(name)) left_out.push_back(name + "=" + value);
  if (!left_out.empty())
    diagnostics.note(fmt::format("hpcml does not set {}, which {} recommends: with it, `import torch` binds "
                                 "the program and its data loaders to one core; use --env to set it anyway",
                                 util::join(left_out, " and "), input.site.name),
                     input.site.openmp_origin);
}

void note_place(const RequestWithLayout& input, const Directives& directives,
                PlanStepDiagnostics& diagnostics) {
  const model::Site& site = input.site;
  if (directives.has("--clusters"))
    diagnostics.note(fmt::format("--clusters may send the job to another cluster than {}, for which hpcml "
                                 "plans and checks it: set --site to that cluster",
                                 site.name),
                     rule_origin("different cluster rules"));
  if (!site.until.empty())
    diagnostics.warning("site/ends", fmt::format("{} shuts down on {}", site.name, site.until),
                        site.successor.empty() ? "use another site after this date"
                                               : fmt::format("use its successor {}", site.successor),
                        site.state_origin);
  if (input.partition() && input.partition()->on_request)
    diagnostics.note(
        fmt::format(
            "partition {} is available only on request: ask {} for access, or use another --partition",
            input.partition()->name, site.name),
        input.partition()->origin);
  if (input.qos() && input.qos()->on_request)
    diagnostics.note(
        fmt::format("QoS {} is available only on request: ask {} for access, or use another --qos",
                    input.qos()->name, site.name),
        input.qos()->origin);
  if (input.partition() && !input.partition()->note.empty())
    diagnostics.note(fmt::format("partition {}: {}", input.partition()->name, input.partition()->note),
                     input.partition()->origin);
  const bool preemptible =
      (input.partition() && input.partition()->preemptible) || (input.qos() && input.qos()->preemptible);
  if (preemptible && !(input.job.requeue && input.job.requeue->value))
    diagnostics.note(
        "other jobs may preempt this job in its partition or QoS: save checkpoints and use --requeue",
        input.qos() && input.qos()->preemptible ? input.qos()->origin : input.partition()->origin);
  if (preemptible && !site.signal_for_preemption.empty() && !input.job.signal)
    diagnostics.note(fmt::format("{} is sent before a preemption, so that the program can save; --signal "
                                 "requests one before the time limit as well",
                                 site.signal_for_preemption),
                     model::Origin{model::OriginKind::site, "signal_for_preemption", {}, {}, {}});
  if (const auto& minutes = site.policies.idle_gpu_minutes; minutes && input.numbers().gpus_per_node > 0)
    diagnostics.note(
        fmt::format(
            "{} stops jobs whose GPUs are idle for {} minutes: use --gpus-per-node 0 for work on CPUs only",
            site.name, minutes->value),
        minutes->origin);
  const auto arch = input.node() ? input.node()->cpu_arch : model::CpuArch::unknown;
  if (arch != model::CpuArch::unknown && site.login_arch != model::CpuArch::unknown &&
      arch != site.login_arch)
    diagnostics.note(
        fmt::format(
            "the compute nodes are {}, the login nodes {}: programs and environments must be built for {}",
            model::word_of(arch), model::word_of(site.login_arch), model::word_of(arch)),
        input.node()->origin);
}

/// How many jobs a user may have: of an array, or of a chain, the others wait.
void note_job_counts(const RequestWithLayout& input, PlanStepDiagnostics& diagnostics) {
  using model::Limits;
  const auto add_limit = [&](const model::Known<unsigned>& most, const std::string& who,
                             const std::string& what, const char* effect) {
    if (most)
      diagnostics.note(fmt::format("{} allows {} jobs of one user {}: {}", who, most->value, what, effect),
                       most->origin);
  };
  const auto& running = input.limit(&Limits::max_jobs);
  if (running)
    add_limit(running, input.limit_owner(&Limits::max_jobs), "running", "further jobs wait in the queue");
  else
    add_limit(input.site.policies.max_jobs, input.site.name, "at a time",
              "further jobs wait or are rejected");
  add_limit(input.limit(&Limits::max_submitted), input.limit_owner(&Limits::max_submitted),
            "queued and running", "sbatch rejects further jobs");
}

/// What of a node is not the job's, or not what one thinks.
void note_node(const RequestWithSoftware& input, const Directives& directives,
               PlanStepDiagnostics& diagnostics) {
  const model::NodeType* node = input.node();
  const auto& seen = input.site.gpu_visibility;
  const char* gpus =
      seen.mode == model::GpuVisibilityMode::own ? "only its own GPUs" : "all GPUs of its node";
  if (input.numbers().gpus_per_node > 0 && !seen.why.empty() &&
      input.software.gpu_visibility.value == seen.mode && !input.job.gpu_visibility)
    diagnostics.note(fmt::format("a rank sees {}: {}{}", gpus, seen.why,
                                 input.gpus_by_task() ? "" : "; --gpu-visibility changes this"),
                     seen.origin);
  if (!node) return;
  const auto& cpu = node->cpu;
  if (!cpu.reserved.empty() && !cpu.reserved_override.empty() &&
      !directives.has(cpu.reserved_override.substr(0, cpu.reserved_override.find('='))))
    diagnostics.note(fmt::format("CPUs {} of each node are reserved for the system, and not used by the job; "
                                 "--sbatch={} requests them as well",
                                 cpu.reserved.to_list(), cpu.reserved_override),
                     node->origin);
  const bool hbm = node->memory_kind == model::CountedNodeMemory::hbm;
  const char* memory = hbm ? "HBM" : "HBM and the processors' memory together";
  if (node->memory && (hbm || node->memory_kind == model::CountedNodeMemory::sum))
    diagnostics.note(fmt::format("the memory that --mem can request on node type {}, {}, is {}", node->id,
                                 node->memory->value.to_slurm(), memory),
                     node->memory->origin);
}

void note_network(const RequestWithLayout& input, PlanStepDiagnostics& diagnostics) {
  const model::NetworkRule& network = input.site.network;
  const bool offline = network.internet_on_compute && !*network.internet_on_compute;
  const bool is_used =
      input.partition() && input.partition()->internet ? *input.partition()->internet : !offline;
  if (is_used || !network.internet_on_compute) return;
  if (!network.proxy_module.empty())
    diagnostics.note(
        fmt::format(
            "the compute nodes of {} reach the internet only through a proxy: add --module {} to use it",
            input.site.name, network.proxy_module),
        network.origin);
  else if (network.proxy.empty())
    diagnostics.note(
        fmt::format(
            "the compute nodes of {} have no internet: download data and packages before you submit the job",
            input.site.name),
        network.origin);
  if (!network.allowed_hosts.empty())
    diagnostics.note(fmt::format("the compute nodes of {} reach only these hosts: {}; download other data "
                                 "before you submit the job",
                                 input.site.name, util::join(network.allowed_hosts, ", ")),
                     network.origin);
}

void note_storage(const RequestWithLayout& input, PlanStepDiagnostics& diagnostics) {
  const model::StorageRule& storage = input.site.storage;
  if (!storage.read_only_on_compute.empty())
    diagnostics.note(
        fmt::format(
            "the compute nodes of {} cannot write below {}: use other directories for output and checkpoints",
            input.site.name, util::join(storage.read_only_on_compute, ", ")),
        storage.origin);
  if (storage.tmp_is_memory)
    diagnostics.note(
        fmt::format(
            "/tmp is memory on {}: files in it count as memory of the job, so request memory for them",
            input.site.name),
        storage.origin);
  if (storage.scratch_days)
    diagnostics.note(
        fmt::format(
            "{} removes files on {} that were not used for {} days: copy results to other storage in time",
            input.site.name, storage.scratch.empty() ? "scratch" : storage.scratch, *storage.scratch_days),
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

void warn_of_conflicts(const RequestWithSoftware& input, PlanStepDiagnostics& diagnostics) {
  for (const auto& rule : input.site.conflicts)
    if (!rule.settings.empty() && input.applies(rule.when) &&
        std::all_of(rule.settings.begin(), rule.settings.end(),
                    [&](const auto& setting) { return is_set(input.software, setting); }))
      diagnostics.warning("request/env", site_rules::describe_conflict(rule, rule.settings, input.site),
                          "remove one of them", rule.origin);
}

} // namespace

PlanStepResult<model::Sourced<std::string>> plan_submission(const RequestWithLayout& input) {
  PlanStepResult<model::Sourced<std::string>> result{{"sbatch", {}}};
  auto& [command, diagnostics] = result;
  const model::SubmitRule& submit = input.site.submit;
  const auto [hosts, own] = site_rules::submit_method_of(input.site, input.facts());
  if (!hosts.empty())
    diagnostics.note(
        fmt::format("jobs of {} must be submitted from {}", input.site.name, util::join(hosts, " or ")),
        submit.origin);
  if (own) {
    command = {own->value, own->origin};
    diagnostics.note(
        fmt::format("jobs of {} must be submitted with {} instead of sbatch", input.site.name, own->value),
        own->origin);
  }
  if (!submit.require_directories.empty())
    diagnostics.note(fmt::format("jobs of {} must be submitted from a directory below {}", input.site.name,
                                 util::join(submit.require_directories, " or ")),
                     submit.origin);
  if (!submit.forbid_directories.empty())
    diagnostics.note(fmt::format("jobs of {} must not be submitted from a directory below {}",
                                 input.site.name, util::join(submit.forbid_directories, " or ")),
                     submit.origin);
  return result;
}

PlanStepDiagnostics note_site_rules(const RequestWithSoftware& input, const Directives& directives) {
  PlanStepDiagnostics diagnostics;
  note_place(input, directives, diagnostics);
  note_threads(input, diagnostics);
  note_job_counts(input, diagnostics);
  note_node(input, directives, diagnostics);
  note_network(input, diagnostics);
  note_storage(input, diagnostics);
  warn_of_conflicts(input, diagnostics);
  return diagnostics;
}

} // namespace hpcml::plan
