// SPDX-License-Identifier: MIT
// Raw --sbatch options: those that are requests become the request, so that the layout and the masks follow
// them.
#include <map>

#include "core/site_rules/facts.hpp"
#include "core/site_rules/placement.hpp"
#include "core/site_rules/plugin_options.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/slurm/option_word.hpp"
#include "core/util/text.hpp"
#include "generate/plan/option_value.hpp"
#include "generate/plan/plan_request.hpp"
#include "generate/plan/raw_options.hpp"

namespace hpcml::plan {
namespace {

using model::Known;
using model::Origin;

template <class T>
void set_option(StepResult<model::JobSpec>& result, const std::string& name, Known<T>& target, T value,
                const Origin& origin) {
  if (target) result.remarks.note("--sbatch " + name + " replaces " + target->origin.by, origin);
  target = model::Sourced<T>{std::move(value), origin};
}

void take_number(StepResult<model::JobSpec>& result, const slurm::NamedOption& option,
                 Known<unsigned>& target, const Origin& origin) {
  const auto number = util::parse_unsigned(option.value.value_or(""));
  if (!number || *number > 1000000) {
    result.remarks.error("usage/sbatch",
                         "'" + option.value.value_or("") + "' is no number for " + option.name);
    return;
  }
  set_option(result, option.name, target, static_cast<unsigned>(*number), origin);
}

void take_gpus(StepResult<model::JobSpec>& result, const slurm::NamedOption& option, const Origin& origin) {
  const std::string text = option.value.value_or("");
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos)
    set_option(result, "GPU type", result.value.gpu_type, text.substr(0, colon), origin);
  take_number(result, {option.name, text.substr(colon == std::string::npos ? 0 : colon + 1)},
              result.value.gpus_per_node, origin);
}

template <class T>
void take_parsed(StepResult<model::JobSpec>& result, const slurm::NamedOption& option, Known<T>& target,
                 const Origin& origin) {
  auto parsed = T::parse(option.value.value_or(""));
  if (parsed)
    set_option(result, option.name, target, *parsed, origin);
  else
    result.remarks.error("usage/sbatch", option.name + ": " + parsed.error().what, parsed.error().hint);
}

/// GPUs become the request's; other kinds of GRES stay.
void take_gres(StepResult<model::JobSpec>& result, const slurm::NamedOption& option, const Origin& origin,
               std::vector<model::Sourced<std::string>>& kept) {
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
void fold(StepResult<model::JobSpec>& result, const slurm::NamedOption& option, const Origin& origin) {
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
    result.remarks.error("usage/sbatch",
                         "--nodes " + value + ": a range of node counts leaves the layout open",
                         "say one number of nodes");
  else if (const auto number = numbers.find(option.name); number != numbers.end())
    take_number(result, option, *number->second, origin);
  else if (option.name == "--gpus-per-node")
    take_gpus(result, option, origin);
  else if (option.name == "--mem")
    take_parsed(result, option, job.mem, origin);
  else if (option.name == "--time")
    take_parsed(result, option, job.time, origin);
  else if (option.value)
    result.remarks.error("usage/sbatch", option.to_word() + ": not all versions of Slurm take a value here",
                         "write " + option.name);
  else
    set_option(result, option.name, job.requeue, option.name == "--requeue", origin);
}

/// Slurm takes one kind of memory request and stops at two.
void check_memory(StepResult<model::JobSpec>& result, const std::vector<model::Sourced<std::string>>& kept) {
  std::vector<std::string> names;
  if (result.value.mem) names.push_back("--mem");
  for (const auto& raw : kept)
    if (raw.value.starts_with("--mem-per-")) names.push_back(slurm::split_option(raw.value).name);
  if (names.size() > 1)
    result.remarks.error("usage/mem", util::join(names, " and ") + " exclude each other", "keep one of them");
}

/// An option that the site's Slurm is too old or too new for: it would refuse the whole job.
void check_version(StepDiagnostics& diagnostics, const model::Site& site, const std::string& flag,
                   slurm::Program program, const std::string& name) {
  const auto& runs = site.slurm_version;
  const auto version = runs ? slurm::parse_version(runs->value) : std::nullopt;
  if (!version) return;
  const auto match = slurm::find_option(program, name, version);
  if (match.option && match.option->name == name) return;
  diagnostics.error("usage/" + flag,
                    "--" + name + " is not an option of Slurm " + runs->value + ", which " + site.name +
                        " runs" + site_rules::cited(runs->origin),
                    "versions of Slurm that have it: " + slurm::versions_of(program, name));
}

/// A name that Slurm does not know is a plugin's, or a slip.
void check_known(StepDiagnostics& diagnostics, const model::Site& site, const std::string& flag,
                 slurm::Program program, const slurm::NamedOption& option) {
  if (option.known) return check_version(diagnostics, site, flag, program, option.name.substr(2));
  const auto name = option.name.substr(2);
  const auto near = util::nearest(name, slurm::option_names(program));
  const auto plugin = site_rules::plugin_option(&site, name);
  const auto what = "Slurm has no option " + option.name + " of its own";
  const auto meant = near ? "did you mean --" + *near + "? " : std::string();
  if (program == slurm::Program::srun) {
    if (near)
      diagnostics.warning("usage/" + flag, what, meant + "If a plugin of the site has it, all is well");
  } else if (plugin == site_rules::PluginOption::none) {
    diagnostics.error("usage/" + flag, what + ", and " + site.name + " no plugin that brings it",
                      meant + "sbatch would refuse the job: leave it out");
  } else if (plugin == site_rules::PluginOption::possible) {
    diagnostics.warning("usage/" + flag, what,
                        meant + "If a plugin of the site has it, all is well: the profile tells of none");
  }
}

/// The option, if it may be passed on or folded; what speaks against it is said.
std::optional<slurm::NamedOption> read_raw(StepDiagnostics& diagnostics, const model::Site& site,
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
bool site_refuses(StepResult<model::JobSpec>& result, const model::Site& site, const std::string& word) {
  const auto option = slurm::read_option(slurm::Program::sbatch, word);
  if (!option) return false;
  const auto facts = site_rules::place(site, site_rules::demand_of(result.value)).facts;
  const model::FlagRule& rule = site_rules::flag_rule(site, option->name.substr(2), facts);
  if (rule.policy != model::Policy::forbidden) return false;
  result.remarks.error("request/" + option->name.substr(2),
                       site.name + " refuses " + option->name + (rule.why.empty() ? "" : ": " + rule.why) +
                           site_rules::cited(rule.origin),
                       "leave --sbatch=" + word + " out");
  return true;
}

} // namespace

StepResult<model::JobSpec> read_passthrough(model::JobSpec job, const model::Site& site) {
  StepResult<model::JobSpec> result{std::move(job)};
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
