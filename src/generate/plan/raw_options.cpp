// SPDX-License-Identifier: MIT
// The one table of raw options that are not simply passed through.
#include "generate/plan/raw_options.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::plan {
namespace {

/// Why an option is not passed on; `pass` and `fold` are no refusals.
enum class Why {
  pass,
  fold,
  layout,
  binding,
  gpus,
  sharing,
  job,
  command_line,
  other_job,
  program,
  export_all
};

struct Row {
  std::string_view name;
  Why sbatch;
  Why srun;
  std::string_view instead; ///< flags of hpcml that say the same; empty: the reason's own hint
};

constexpr Row k_rows[] = {
    // Requests: hpcml has a flag of the same meaning.
    {"nodes", Why::fold, Why::layout, "--nodes"},
    {"ntasks-per-node", Why::fold, Why::layout, "--tasks-per-node"},
    {"cpus-per-task", Why::fold, Why::layout, "--cpus-per-task"},
    {"gpus-per-node", Why::fold, Why::gpus, "--gpus-per-node"},
    {"gres", Why::fold, Why::gpus, "--gpus-per-node"},
    {"mem", Why::fold, Why::pass, ""},
    {"time", Why::fold, Why::pass, ""},
    {"partition", Why::fold, Why::job, "--partition"},
    {"account", Why::fold, Why::job, "--account"},
    {"qos", Why::fold, Why::job, "--qos"},
    {"dependency", Why::fold, Why::job, "--dependency"},
    {"job-name", Why::fold, Why::pass, ""},
    {"output", Why::fold, Why::pass, ""},
    {"signal", Why::fold, Why::pass, ""},
    {"array", Why::fold, Why::pass, ""},
    {"requeue", Why::fold, Why::pass, ""},
    {"no-requeue", Why::fold, Why::pass, ""},
    // How many tasks, where, with how many cores.
    {"ntasks", Why::layout, Why::layout, "--nodes and --tasks-per-node"},
    {"ntasks-per-core", Why::layout, Why::layout, "--tasks-per-node and --cpus-per-task"},
    {"ntasks-per-socket", Why::layout, Why::layout, "--tasks-per-node"},
    {"ntasks-per-gpu", Why::layout, Why::layout, "--tasks-per-node"},
    {"ntasks-per-tres", Why::layout, Why::layout, "--tasks-per-node"},
    {"tres-per-task", Why::layout, Why::layout, "--cpus-per-task and --gpus-per-task"},
    {"cpus-per-gpu", Why::layout, Why::layout, "--cpus-per-task"},
    {"distribution", Why::layout, Why::layout, ""},
    {"overcommit", Why::layout, Why::layout, ""},
    {"relative", Why::pass, Why::layout, ""},
    {"multi-prog", Why::pass, Why::program, ""},
    // Which cores.
    {"cpu-bind", Why::pass, Why::binding, ""},
    {"accel-bind", Why::pass, Why::binding, ""},
    {"extra-node-info", Why::binding, Why::binding, ""},
    {"threads-per-core", Why::binding, Why::binding, "--threads-per-core"},
    {"hint", Why::binding, Why::binding, "--threads-per-core 1 or 2"},
    {"exact", Why::pass, Why::binding, ""},
    {"exclusive", Why::pass, Why::binding, "--sbatch=--exclusive"},
    // Which GPUs.
    {"gpus", Why::gpus, Why::gpus, "--gpus-per-node"},
    {"gpus-per-task", Why::gpus, Why::gpus, "--gpus-per-task"},
    {"gpus-per-socket", Why::gpus, Why::gpus, "--gpus-per-node"},
    {"gpu-bind", Why::gpus, Why::gpus, "--gpu-visibility all or own"},
    {"tres-bind", Why::gpus, Why::gpus, "--gpu-visibility all or own"},
    {"oversubscribe", Why::sharing, Why::sharing, ""},
    // What a step cannot change.
    {"begin", Why::pass, Why::job, ""},
    {"clusters", Why::pass, Why::job, ""},
    {"constraint", Why::pass, Why::job, ""},
    {"contiguous", Why::pass, Why::job, ""},
    {"core-spec", Why::pass, Why::job, ""},
    {"cores-per-socket", Why::pass, Why::job, ""},
    {"deadline", Why::pass, Why::job, ""},
    {"exclude", Why::pass, Why::job, ""},
    {"hold", Why::pass, Why::job, ""},
    {"licenses", Why::pass, Why::job, ""},
    {"mail-type", Why::pass, Why::job, ""},
    {"mail-user", Why::pass, Why::job, ""},
    {"mincpus", Why::pass, Why::job, ""},
    {"nice", Why::pass, Why::job, ""},
    {"nodefile", Why::pass, Why::job, ""},
    {"nodelist", Why::pass, Why::job, ""},
    {"prefer", Why::pass, Why::job, ""},
    {"priority", Why::pass, Why::job, ""},
    {"reboot", Why::pass, Why::job, ""},
    {"reservation", Why::pass, Why::job, ""},
    {"sockets-per-node", Why::pass, Why::job, ""},
    {"switches", Why::pass, Why::job, ""},
    {"thread-spec", Why::pass, Why::job, ""},
    {"time-min", Why::pass, Why::job, ""},
    {"tmp", Why::pass, Why::job, ""},
    {"use-min-nodes", Why::pass, Why::job, ""},
    {"wckey", Why::pass, Why::job, ""},
    // Another job or another program.
    {"jobid", Why::pass, Why::other_job, ""},
    {"het-group", Why::pass, Why::other_job, ""},
    {"no-allocate", Why::pass, Why::other_job, ""},
    {"wrap", Why::program, Why::pass, ""},
    {"pty", Why::pass, Why::program, "--interactive for a shell"},
    {"container", Why::program, Why::program, "--container IMAGE"},
    {"container-id", Why::program, Why::program, "--container IMAGE"},
    // Of a call, not of a job.
    {"test-only", Why::command_line, Why::command_line, ""},
    {"parsable", Why::command_line, Why::command_line, ""},
    {"wait", Why::command_line, Why::pass, ""},
    {"help", Why::command_line, Why::command_line, ""},
    {"usage", Why::command_line, Why::command_line, ""},
    {"version", Why::command_line, Why::command_line, ""},
    {"quiet", Why::command_line, Why::pass, ""},
    {"verbose", Why::command_line, Why::pass, ""},
    {"autocomplete", Why::command_line, Why::command_line, ""},
    {"async", Why::pass, Why::command_line, ""},
    // The script's variables must reach the ranks.
    {"export", Why::export_all, Why::export_all, "--env NAME=VALUE"},
    {"export-file", Why::export_all, Why::pass, "--env NAME=VALUE"},
};

/// "ALL" and "ALL,NAME=VALUE" keep everything; all other values drop what the script exports.
bool keeps_variables(const slurm::NamedOption& option) {
  const std::string value = option.value.value_or("");
  return option.name == "--export" && (value == "ALL" || value.starts_with("ALL,"));
}

RawOptionDecision refusal(Why why, slurm::Program program, const std::string& name) {
  switch (why) {
  case Why::pass: return {};
  case Why::fold: return {RawOptionUse::fold, {}, {}};
  case Why::layout:
    return {RawOptionUse::refuse, "would contradict the planned layout",
            "leave it out: the ranks stand in blocks, node by node, each with its own cores"};
  case Why::binding:
    return {RawOptionUse::refuse, "would contradict the planned binding",
            "leave it out: each rank gets physical cores of its own; --cpus-per-task says how many"};
  case Why::gpus: return {RawOptionUse::refuse, "would contradict how the ranks get their GPUs", {}};
  case Why::sharing:
    return {RawOptionUse::refuse, "would share the cores that each rank counts on", "leave it out"};
  case Why::job:
    return {RawOptionUse::refuse, "belongs to the job: a step cannot change it",
            "give it to the job: --sbatch=" + name};
  case Why::command_line:
    return {RawOptionUse::refuse, "belongs on the command line, not in a script",
            program == slurm::Program::sbatch ? "give it when you submit: sbatch " + name + " job.sh"
                                              : "leave it out"};
  case Why::other_job:
    return {RawOptionUse::refuse, "points the step at another job",
            "leave it out: the step runs in the job of its script"};
  case Why::program:
    return {RawOptionUse::refuse, "would start something else than the program",
            "the program stands behind --"};
  case Why::export_all: break;
  }
  return {RawOptionUse::refuse, "would keep the script's variables from the ranks", {}};
}

} // namespace

RawOptionDecision decide_raw(slurm::Program program, const slurm::NamedOption& option) {
  const auto found = std::find_if(std::begin(k_rows), std::end(k_rows), [&](const Row& row) {
    return "--" + std::string(row.name) == option.name;
  });
  if (found == std::end(k_rows) || keeps_variables(option)) return {};
  auto decision =
      refusal(program == slurm::Program::sbatch ? found->sbatch : found->srun, program, option.name);
  if (decision.use == RawOptionUse::refuse && !found->instead.empty())
    decision.hint = "use " + std::string(found->instead);
  return decision;
}

} // namespace hpcml::plan
