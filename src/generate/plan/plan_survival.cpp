// SPDX-License-Identifier: MIT
#include "generate/plan/plan_survival.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "core/site_rules/site_text.hpp"
#include "core/slurm/version.hpp"
#include "core/util/node_local_path.hpp"
#include "generate/plan/program_signs.hpp"

namespace hpcml::plan {
namespace {

/// sbatch takes no more for the time of a signal.
constexpr std::int64_t k_most_seconds = 65535;

/// As the request says, else as the site's profile does for "save-before".
model::Known<model::LeadTime> wanted_time(const RequestWithLayout& input, PlanStepDiagnostics& diagnostics) {
  if (input.job.save_before) return input.job.save_before;
  const auto& rule = input.flag("save-before");
  if (rule.default_value.empty()) return std::nullopt;
  const auto time = model::LeadTime::parse(rule.default_value);
  if (time) return model::Sourced<model::LeadTime>{*time, rule.origin};
  diagnostics.error("site/save-before",
                    fmt::format("the profile of {} has an invalid default for --save-before: {}",
                                input.site.name, time.error().what),
                    "set --save-before TIME, or correct flags.save-before.default in the profile");
  return std::nullopt;
}

/// The site's word for "save-signal"; nothing where its profile has none.
model::Known<model::SaveSignal> signal_of_site(const RequestWithLayout& input,
                                               PlanStepDiagnostics& diagnostics) {
  const auto& rule = input.flag("save-signal");
  if (rule.default_value.empty()) return std::nullopt;
  const auto signal = model::SaveSignal::parse(rule.default_value);
  if (signal) return model::Sourced<model::SaveSignal>{*signal, rule.origin};
  diagnostics.error("site/save-signal",
                    fmt::format("the profile of {} has an invalid default for --save-signal: {}",
                                input.site.name, signal.error().what),
                    "set --save-signal SIGNAL, or correct flags.save-signal.default in the profile");
  return std::nullopt;
}

/// Reports why the ranks cannot be asked to save, or need not be.
void refuse(const RequestWithLayout& input, const model::PlannedLauncher& launcher,
            const model::Walltime& time, PlanStepDiagnostics& diagnostics) {
  if (input.job.signal)
    diagnostics.error(
        "request/save-before",
        "--signal and --save-before exclude each other: Slurm sends one signal before the time limit",
        "remove --signal, and use --save-signal for the signal of the ranks");
  if (!launcher.by_srun())
    diagnostics.error(
        "request/save-before",
        fmt::format(
            "--save-before cannot be used: {} starts programs with {}, whose tasks receive no signal from "
            "Slurm",
            input.site.name, launcher.step),
        fmt::format("remove --save-before and save at intervals, or use --signal if {} passes signals on",
                    launcher.step));
  if (time.seconds().count() > k_most_seconds)
    diagnostics.error("request/save-before",
                      "--save-before exceeds the maximum of Slurm (65535 seconds, about 18 hours)",
                      "set --save-before to at most 18h");
  if (input.job.time && time >= input.job.time->value)
    diagnostics.error("request/save-before",
                      fmt::format("--save-before is not shorter than the time limit {}, so the ranks would "
                                  "have to save before they start",
                                  input.job.time->value.to_slurm()),
                      "use a --save-before shorter than --time");
}

/// Warns if the program does not seem to handle the signal.
void remark_on_program(const RequestWithLayout& input, const model::PlannedSaving& saving,
                       PlanStepDiagnostics& diagnostics) {
  const auto signal = saving.signal.text();
  if (signal != "USR1" && leaves_signal_to_lightning(input.job.program_text))
    diagnostics.warning(
        "request/save-before",
        fmt::format("Lightning saves and requeues on USR1, but the ranks get {}", signal),
        fmt::format("use SLURMEnvironment(requeue_signal=signal.SIG{}) in the program, or --save-signal USR1",
                    signal));
  if (seems_to_handle_signals(input.job.program_text)) return;
  diagnostics.warning(
      "request/save-before",
      saving.by_launch() ? fmt::format("no handler for {} was found in the program: without one, hpcml does "
                                       "not signal it, and it runs to the time limit",
                                       signal)
                         : fmt::format("no handler for {} was found in the program: without one, the signal "
                                       "kills it before it saves",
                                       signal),
      fmt::format("add a handler for the signal in variable {} that saves and exits with code 0",
                  model::k_save_variable));
}

} // namespace

PlanStepResult<std::optional<model::PlannedSaving>> plan_saving(const RequestWithLayout& input,
                                                                const model::PlannedLauncher& launcher) {
  PlanStepResult<std::optional<model::PlannedSaving>> result;
  auto& [planned, diagnostics] = result;
  const auto time = wanted_time(input, diagnostics);
  if (!time) {
    // In a job the variable is meant for its own programs; it is not a request for another job.
    if (input.job.save_signal && input.job.save_signal->origin.kind != model::OriginKind::environment)
      diagnostics.error("request/save-signal", "--save-signal has no effect without --save-before",
                        "add --save-before TIME");
    return result;
  }
  refuse(input, launcher, time->value, diagnostics);
  model::PlannedSaving saving;
  saving.seconds =
      static_cast<unsigned>(std::min<std::int64_t>(time->value.seconds().count(), k_most_seconds));
  saving.requested_by = time->origin;
  const bool gpus = input.numbers().gpus_per_node > 0;
  if (input.job.save_signal) {
    saving.signal = input.job.save_signal->value;
    saving.chosen = input.job.save_signal->origin;
  } else if (launcher.choice.is_agent()) {
    saving.signal = model::SaveSignal::of_agents();
    saving.chosen =
        rule_origin(fmt::format("{} passes only TERM on to its processes", launcher.choice.name()));
  } else if (const auto site = signal_of_site(input, diagnostics)) {
    saving.signal = site->value;
    saving.chosen = site->origin;
  } else {
    saving.signal = model::SaveSignal::of_gpus(gpus ? input.placement.gpu_vendor : model::GpuVendor::unknown);
    saving.chosen = rule_origin("a signal that the GPU libraries do not handle: NCCL has caught USR1 "
                                "(NVIDIA/nccl issue 704), an RCCL change catches USR2 (ROCm/rccl pull 584)");
  }
  saving.word = launcher.choice.is_hpcml() ? std::string(model::k_save_word) : saving.signal.text();
  remark_on_program(input, saving, diagnostics);
  planned = std::move(saving);
  return result;
}

namespace {

bool is_below(const std::string& directory, const std::string& place) {
  return !place.empty() && (directory == place || directory.starts_with(place + "/"));
}

bool is_own_to_nodes(const RequestWithLayout& input, const std::string& directory) {
  const auto& node = input.node();
  return util::is_node_local(directory) ||
         (node && node->local_disk && is_below(directory, *node->local_disk));
}

std::string shared_directory_hint(const RequestWithLayout& input) {
  return fmt::format("use a directory on storage that all nodes share and that outlives the job{}",
                     input.site.storage.scratch.empty() ? "" : ": " + input.site.storage.scratch);
}

/// A directory that is gone with the node, or that the node may not write, is none to save in.
void check_checkpoint_dir(const RequestWithLayout& input, const model::Sourced<std::string>& directory,
                          PlanStepDiagnostics& diagnostics) {
  const auto refuse = [&](const std::string& what, const model::Origin& fact = {}) {
    diagnostics.error("request/checkpoint-dir", what, shared_directory_hint(input), fact);
  };
  if (is_own_to_nodes(input, directory.value))
    return refuse(fmt::format("--checkpoint-dir '{}' is private to each node and emptied when the job ends, "
                              "so checkpoints would be lost",
                              directory.value));
  for (const auto& place : input.site.storage.read_only_on_compute)
    if (is_below(directory.value, place))
      return refuse(fmt::format("--checkpoint-dir '{}' is read-only on the compute nodes of {}, so no "
                                "checkpoint can be saved there",
                                directory.value, input.site.name),
                    input.site.storage.origin);
}

/// Reports requeues that are not possible.
void check_bounds(const RequestWithLayout& input, const LaunchPlan& launch, bool requeues,
                  PlanStepDiagnostics& diagnostics) {
  const model::JobSpec& job = input.job;
  if (job.max_requeues && !requeues)
    diagnostics.error("request/max-requeues",
                      "--max-requeues has no effect without --requeue and --save-before",
                      "add --requeue and --save-before TIME");
  if (!job.requeue_on || job.requeue_on->value.empty()) return;
  if (!(job.requeue && job.requeue->value))
    diagnostics.error("request/requeue-on", "--requeue-on has no effect without --requeue", "add --requeue");
  const auto& words = job.requeue_on->value.words();
  const bool recorded = launch.launcher.has_own_agent() && job.log_dir;
  const bool handles_signal = std::all_of(words.begin(), words.end(), [&](const auto& word) {
    if (word == model::word_of(model::FailureClass::node))
      return launch.launcher.choice.is_hpcml() && model::is_on(job.preflight);
    return word == model::word_of(model::FailureClass::preempted) && launch.saving;
  });
  const bool of_preemption =
      std::find(words.begin(), words.end(), model::word_of(model::FailureClass::preempted)) != words.end();
  if (recorded && of_preemption && !launch.saving)
    diagnostics.error(
        "request/requeue-on",
        "--requeue-on preempted needs --save-before, because a preemption otherwise ends the script "
        "before it can requeue the job",
        "add --save-before TIME, so that the script receives a signal, or remove preempted");
  if (recorded && is_own_to_nodes(input, job.log_dir->value.text()))
    diagnostics.error("request/log-dir",
                      fmt::format("--log-dir '{}' is private to each node and emptied when the job ends, but "
                                  "--requeue-on reads the cause of a failure from there",
                                  job.log_dir->value.text()),
                      shared_directory_hint(input));
  if (!recorded && !handles_signal)
    diagnostics.error(
        "request/requeue-on",
        "--requeue-on needs the cause of a failure, which the agents write to the run record in --log-dir",
        "add --log-dir DIRECTORY; for preempted alone --save-before TIME is enough, for node alone "
        "--preflight");
}

/// The value of --requeue where the site's Slurm takes one, as its profile says; others refuse the job.
model::Known<std::string> value_of_site(const RequestWithLayout& input, PlanStepDiagnostics& diagnostics) {
  const auto& rule = input.flag("requeue");
  if (rule.default_value.empty()) return std::nullopt;
  if (rule.default_value != site_rules::k_expedite) {
    diagnostics.error("site/requeue",
                      fmt::format("the profile of {} sets --requeue={}, which Slurm does not have",
                                  input.site.name, rule.default_value),
                      fmt::format("remove flags.requeue.default from the profile, or set it to {}",
                                  site_rules::k_expedite));
    return std::nullopt;
  }
  const auto& runs = input.site.slurm_version;
  const auto version = runs ? slurm::parse_version(runs->value) : std::nullopt;
  if (!version || *version < slurm::Version::v25_11) {
    diagnostics.note("--requeue is written without the profile's value expedite, which needs Slurm 25.11; "
                     "requeues work without it",
                     rule.origin);
    return std::nullopt;
  }
  // The script has to end such a job where it fails; of several components each is a job.
  if (!input.job.components.empty()) return std::nullopt;
  return model::Sourced<std::string>{site_rules::k_expedite, rule.origin};
}

} // namespace

PlanStepResult<std::optional<model::PlannedRequeue>> plan_requeue(const RequestWithLayout& input,
                                                                  const LaunchPlan& launch) {
  PlanStepResult<std::optional<model::PlannedRequeue>> result;
  auto& [planned, diagnostics] = result;
  const model::JobSpec& job = input.job;
  const bool is_requested = job.requeue && job.requeue->value;
  const bool retries = is_requested && job.requeue_on && !job.requeue_on->value.empty();
  const bool requeues = is_requested && (launch.saving || retries);
  check_bounds(input, launch, requeues, diagnostics);
  if (job.checkpoint_dir) check_checkpoint_dir(input, *job.checkpoint_dir, diagnostics);
  if (!is_requested && !job.checkpoint_dir) return result;
  model::PlannedRequeue requeue;
  requeue.requeues = requeues;
  requeue.most = job.max_requeues ? job.max_requeues->value : model::k_default_max_requeues;
  if (is_requested) requeue.slurm = value_of_site(input, diagnostics);
  if (job.requeue_on) requeue.requeue_on = job.requeue_on->value;
  if (job.checkpoint_dir) requeue.checkpoint_dir = job.checkpoint_dir->value;
  requeue.origin = job.requeue ? job.requeue->origin : job.checkpoint_dir->origin;
  requeue.bound =
      job.max_requeues ? job.max_requeues->origin : rule_origin("limits a job that makes no progress");
  if (is_requested && !requeues)
    diagnostics.note("Slurm requeues the job after a node failure and after preemption; add --save-before "
                     "TIME to requeue it at its time limit",
                     requeue.origin);
  planned = std::move(requeue);
  return result;
}

PlanStepDiagnostics check_spares(const RequestWithLayout& input, const model::PlannedLauncher& launcher) {
  PlanStepDiagnostics diagnostics;
  if (input.numbers().spare_nodes == 0) return diagnostics;
  const auto& job = input.job;
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    diagnostics.error("request/spare-nodes", why, hint);
  };
  const bool once =
      std::any_of(job.steps.begin(), job.steps.end(), [](const auto& step) { return step.once; });
  const auto packed = [](const auto& path) { return path && path->value.ends_with(".tar.gz"); };
  const bool on_own_disks = !job.stage.empty() || job.wheelhouse || packed(job.conda) || packed(job.venv);
  if (!launcher.by_srun())
    refuse(fmt::format("--spare-nodes cannot be used: {} starts programs with {} on all nodes of the job",
                       input.site.name, launcher.step),
           "remove --spare-nodes, or use --requeue --requeue-on node to exclude a faulty node from the next "
           "start");
  else if (!launcher.choice.is_hpcml())
    refuse(fmt::format("--spare-nodes needs the launcher hpcml, but {} starts the ranks",
                       launcher.choice.name()),
           "use --launcher hpcml, or remove --spare-nodes");
  else if (launcher.least_nodes > 0)
    refuse("--spare-nodes cannot be used with --nnodes MIN:MAX, with which all nodes run the program",
           "use either --nnodes, or --nodes and --spare-nodes");
  else if (!job.components.empty())
    refuse("--spare-nodes cannot be used in a job with components, each of which has its own nodes",
           "remove --spare-nodes");
  else if (job.body || once)
    refuse(job.body
               ? "--spare-nodes cannot be used with --from: the commands of the old script run on all nodes"
               : "--spare-nodes cannot be used with a step that runs once, on the first node: that node may "
                 "be faulty",
           "remove --spare-nodes");
  else if (on_own_disks)
    refuse("--spare-nodes cannot be used with --stage, --wheelhouse or a packed environment: spare nodes "
           "would lack the files",
           "remove --spare-nodes, or use files and environments on storage that all nodes share");
  return diagnostics;
}

} // namespace hpcml::plan
