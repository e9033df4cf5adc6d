// SPDX-License-Identifier: MIT
// Raw --sbatch options: those that are requests become the request, so that the layout and the masks follow
// them.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>

#include "core/site_rules/facts.hpp"
#include "core/site_rules/placement.hpp"
#include "core/site_rules/plugin_options.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/slurm/option_word.hpp"
#include "core/util/text.hpp"
#include "generate/plan/option_value.hpp"
#include "generate/plan/plan_request.hpp"

namespace hpcml::plan {

namespace {

// What becomes of an option that a user passes through to sbatch or srun.

/// What the script does with a raw option.
enum class RawOptionUse {
  allow, ///< goes into the script unchanged
  fold,  ///< is a request: it becomes one, so that layout and masks follow it
  refuse,
};

/// The decision with its reason.
struct RawOptionDecision {
  RawOptionUse use = RawOptionUse::allow;
  std::string why;  ///< of a refusal, a sentence's end: "would contradict the planned layout"
  std::string hint; ///< what to do instead
};

/// Why an option is not passed on; `pass` and `fold` are not refusals.
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
bool keeps_variables(const slurm::CanonicalOption& option) {
  const std::string value = option.value.value_or("");
  return option.name == "--export" && (value == "ALL" || value.starts_with("ALL,"));
}

RawOptionDecision refusal(Why why, slurm::Program program, const std::string& name) {
  switch (why) {
  case Why::pass: return {};
  case Why::fold: return {RawOptionUse::fold, {}, {}};
  case Why::layout:
    return {RawOptionUse::refuse, "would contradict the planned layout",
            "remove it: ranks are placed in blocks, node by node, each with its own cores"};
  case Why::binding:
    return {RawOptionUse::refuse, "would contradict the planned binding",
            "use --cpus-per-task to set how many physical cores each rank gets"};
  case Why::gpus: return {RawOptionUse::refuse, "would contradict how the ranks get their GPUs", {}};
  case Why::sharing: return {RawOptionUse::refuse, "would share cores that each rank needs", "remove it"};
  case Why::job:
    return {RawOptionUse::refuse, "belongs to the job: a step cannot change it",
            fmt::format("use it for the job: --sbatch={}", name)};
  case Why::command_line:
    return {RawOptionUse::refuse, "belongs on the command line, not in a script",
            program == slurm::Program::sbatch ? fmt::format("use it when you submit: sbatch {} job.sh", name)
                                              : "remove it"};
  case Why::other_job:
    return {RawOptionUse::refuse, "points the step at another job",
            "remove it: the step runs in the job of its script"};
  case Why::program:
    return {RawOptionUse::refuse, "would start something else than the program", "use -- PROGRAM ARGUMENTS"};
  case Why::export_all: break;
  }
  return {RawOptionUse::refuse, "would hide the script's variables from the ranks", {}};
}

/// The decision about an option of `program`.
RawOptionDecision decide_raw(slurm::Program program, const slurm::CanonicalOption& option) {
  const auto found = std::find_if(std::begin(k_rows), std::end(k_rows), [&](const Row& row) {
    return "--" + std::string(row.name) == option.name;
  });
  if (found == std::end(k_rows) || keeps_variables(option)) return {};
  auto decision =
      refusal(program == slurm::Program::sbatch ? found->sbatch : found->srun, program, option.name);
  if (decision.use == RawOptionUse::refuse && !found->instead.empty())
    decision.hint = fmt::format("use {}", found->instead);
  return decision;
}

using model::Known;
using model::Origin;

template <class T>
void set_option(PlanStepResult<model::JobSpec>& result, const std::string& name, Known<T>& target, T value,
                const Origin& origin) {
  if (target)
    result.remarks.note(
        fmt::format("the value of --sbatch={} is used instead of that of {}: remove one of the two", name,
                    target->origin.by),
        origin);
  target = model::Sourced<T>{std::move(value), origin};
}

void take_number(PlanStepResult<model::JobSpec>& result, const slurm::CanonicalOption& option,
                 Known<unsigned>& target, const Origin& origin) {
  const auto number = util::parse_unsigned(option.value.value_or(""));
  if (!number || *number > 1000000) {
    result.remarks.error(
        "usage/sbatch",
        fmt::format("'{}' in --sbatch={} must be a whole number of at most 1000000",
                    option.value.value_or(""), option.name),
        fmt::format("use for example --sbatch={}={}", option.name, option.name == "--gres" ? "gpu:4" : "4"));
    return;
  }
  set_option(result, option.name, target, static_cast<unsigned>(*number), origin);
}

void take_gpus(PlanStepResult<model::JobSpec>& result, const slurm::CanonicalOption& option,
               const Origin& origin) {
  const std::string text = option.value.value_or("");
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos)
    set_option(result, option.name, result.value.gpu_type, text.substr(0, colon), origin);
  take_number(result, {option.name, text.substr(colon == std::string::npos ? 0 : colon + 1)},
              result.value.gpus_per_node, origin);
}

template <class T>
void take_parsed(PlanStepResult<model::JobSpec>& result, const slurm::CanonicalOption& option,
                 Known<T>& target, const Origin& origin) {
  auto parsed = T::parse(option.value.value_or(""));
  if (parsed)
    set_option(result, option.name, target, *parsed, origin);
  else
    result.remarks.error("usage/sbatch", option.name + ": " + parsed.error().what, parsed.error().hint);
}

/// GPUs become the request's; other kinds of GRES stay.
void take_gres(PlanStepResult<model::JobSpec>& result, const slurm::CanonicalOption& option,
               const Origin& origin, std::vector<model::Sourced<std::string>>& kept) {
  std::vector<std::string> others;
  for (const auto& item : util::split(option.value.value_or(""), ','))
    if (item == "gpu")
      take_gpus(result, {option.name, "1"}, origin);
    else if (item.starts_with("gpu:"))
      take_gpus(result, {option.name, item.substr(4)}, origin);
    else
      others.push_back(item);
  if (!others.empty()) kept.push_back({option.name + "=" + util::join(others, ","), origin});
}

/// Makes the option a part of the request.
void fold(PlanStepResult<model::JobSpec>& result, const slurm::CanonicalOption& option,
          const Origin& origin) {
  model::JobSpec& job = result.value;
  const std::string value = option.value.value_or("");
  const std::map<std::string, Known<std::string>*> texts = {
      {"--partition", &job.partition}, {"--account", &job.account},      {"--qos", &job.qos},
      {"--job-name", &job.job_name},   {"--output", &job.output},        {"--signal", &job.signal},
      {"--array", &job.array},         {"--dependency", &job.dependency}};
  const std::map<std::string, Known<unsigned>*> numbers = {{"--nodes", &job.nodes},
                                                           {"--ntasks-per-node", &job.tasks_per_node},
                                                           {"--cpus-per-task", &job.cpus_per_task}};
  if (const auto text = texts.find(option.name); text != texts.end())
    set_option(result, option.name, *text->second, value, origin);
  else if (option.name == "--nodes" && value.find_first_of("-,:") != std::string::npos)
    result.remarks.error(
        "usage/sbatch",
        fmt::format(
            "--sbatch=--nodes={} is a range or a list, but hpcml plans the ranks for one number of nodes",
            value),
        "use --nodes N with one number");
  else if (const auto number = numbers.find(option.name); number != numbers.end())
    take_number(result, option, *number->second, origin);
  else if (option.name == "--gpus-per-node")
    take_gpus(result, option, origin);
  else if (option.name == "--mem")
    take_parsed(result, option, job.mem, origin);
  else if (option.name == "--time")
    take_parsed(result, option, job.time, origin);
  else if (option.value)
    result.remarks.error("usage/sbatch",
                         fmt::format("'{}' has a value, which only some versions of Slurm accept for {}",
                                     option.to_word(), option.name),
                         fmt::format("use {} without a value", option.name));
  else
    set_option(result, option.name, job.requeue, option.name == "--requeue", origin);
}

/// Slurm takes one kind of memory request and stops at two.
void check_memory(PlanStepResult<model::JobSpec>& result,
                  const std::vector<model::Sourced<std::string>>& kept) {
  std::vector<std::string> names;
  if (result.value.mem) names.push_back("--mem");
  for (const auto& raw : kept)
    if (raw.value.starts_with("--mem-per-")) names.push_back(slurm::split_option(raw.value).name);
  if (names.size() > 1)
    result.remarks.error("usage/mem",
                         fmt::format("{} exclude each other: Slurm accepts one request for memory",
                                     util::join(names, " and ")),
                         "remove one of them");
}

/// An option that the site's Slurm is too old or too new for: it would refuse the whole job.
void check_version(PlanStepDiagnostics& diagnostics, const model::Site& site, const std::string& flag,
                   slurm::Program program, const std::string& name) {
  const auto& runs = site.slurm_version;
  const auto version = runs ? slurm::parse_version(runs->value) : std::nullopt;
  if (!version) return;
  const auto match = slurm::find_option(program, name, version);
  if (match.option && match.option->name == name) return;
  diagnostics.error(
      "usage/" + flag,
      fmt::format("--{} is not an option of Slurm {}, which {} runs", name, runs->value, site.name),
      fmt::format("remove --{}: only Slurm {} has this option", name, slurm::versions_of(program, name)),
      runs->origin);
}

/// A name that Slurm does not know is a plugin's, or a typo.
void check_known(PlanStepDiagnostics& diagnostics, const model::Site& site, const std::string& flag,
                 slurm::Program program, const slurm::CanonicalOption& option) {
  if (option.known) return check_version(diagnostics, site, flag, program, option.name.substr(2));
  const auto name = option.name.substr(2);
  const auto near = util::nearest(name, slurm::option_names(program));
  const auto plugin = site_rules::plugin_option(&site, name);
  const auto what = fmt::format("Slurm itself has no option '{}'", option.name);
  if (program == slurm::Program::srun) {
    if (near)
      diagnostics.warning(
          "usage/" + flag, what,
          fmt::format("use --{}, or check that a plugin of the site adds {}", *near, option.name));
  } else if (plugin == site_rules::PluginOptionStatus::none) {
    diagnostics.error("usage/" + flag,
                      fmt::format("Slurm itself has no option '{}', and {} has no plugin that adds it",
                                  option.name, site.name),
                      near ? fmt::format("use --{}, or remove {}", *near, option.name)
                           : fmt::format("remove {}: sbatch would reject the job", option.name));
  } else if (plugin == site_rules::PluginOptionStatus::possible) {
    diagnostics.warning(
        "usage/" + flag, what,
        near ? fmt::format("use --{}, or check that a plugin of the site adds {}", *near, option.name)
             : fmt::format("check that a plugin of the site adds {}: the profile lists none", option.name));
  }
}

/// The option, if it may be passed on or folded; what speaks against it is reported.
std::optional<slurm::CanonicalOption> read_raw(PlanStepDiagnostics& diagnostics, const model::Site& site,
                                               const std::string& flag, slurm::Program program,
                                               const std::string& word, RawOptionUse& use) {
  const auto option = slurm::read_option(program, word);
  if (!option) {
    diagnostics.error("usage/" + flag, option.error().what, option.error().hint);
    return std::nullopt;
  }
  const RawOptionDecision decision = decide_raw(program, *option);
  use = decision.use;
  if (use == RawOptionUse::refuse) {
    diagnostics.error("usage/" + flag, "--" + flag + " " + option->to_word() + " " + decision.why,
                      decision.hint);
    return std::nullopt;
  }
  check_known(diagnostics, site, flag, program, *option);
  if (use != RawOptionUse::allow || program != slurm::Program::sbatch || !option->value) return *option;
  if (const auto fault = find_value_fault(site, option->name.substr(2), *option->value))
    diagnostics.error("usage/" + flag, fault->what, fault->hint);
  return *option;
}

/// True if the site refuses the option by name. Asked before it is folded: --gres=gpu:4 becomes a number of
/// GPUs, and the refusal of --gres would go unsaid.
bool site_refuses(PlanStepResult<model::JobSpec>& result, const model::Site& site, const std::string& word) {
  const auto option = slurm::read_option(slurm::Program::sbatch, word);
  if (!option) return false;
  const auto facts = site_rules::place(site, site_rules::demand_of(result.value)).facts;
  const model::SbatchOptionRule& rule = site_rules::sbatch_option_rule(site, option->name.substr(2), facts);
  if (rule.policy != model::OptionPolicy::forbidden) return false;
  result.remarks.error(
      "request/" + option->name.substr(2),
      fmt::format("{} rejects {}{}", site.name, option->name, rule.why.empty() ? "" : ": " + rule.why),
      fmt::format("remove --sbatch={}", word), rule.origin);
  return true;
}

} // namespace

PlanStepResult<model::JobSpec> read_passthrough(model::JobSpec job, const model::Site& site) {
  PlanStepResult<model::JobSpec> result{std::move(job)};
  std::vector<model::Sourced<std::string>> kept;
  const auto words = std::move(result.value.sbatch);
  result.value.sbatch.clear();
  for (const auto& raw : words) {
    if (site_refuses(result, site, raw.value)) continue;
    RawOptionUse use = RawOptionUse::allow;
    const auto option = read_raw(result.remarks, site, "sbatch", slurm::Program::sbatch, raw.value, use);
    if (!option) continue;
    if (option->name == "--gres")
      take_gres(result, *option, raw.origin, kept);
    else if (use == RawOptionUse::fold)
      fold(result, *option, raw.origin);
    else
      kept.push_back({option->to_word(), raw.origin});
  }
  check_memory(result, kept);
  result.value.sbatch = std::exchange(kept, {});
  for (const auto& raw : result.value.srun) {
    RawOptionUse use = RawOptionUse::allow;
    if (const auto option = read_raw(result.remarks, site, "srun", slurm::Program::srun, raw.value, use))
      kept.push_back({option->to_word(), raw.origin});
  }
  result.value.srun = std::move(kept);
  return result;
}

} // namespace hpcml::plan
