// SPDX-License-Identifier: MIT
// The #SBATCH options of the job, in their order, and what the site says to each.
#include <algorithm>
#include <cctype>

#include "plan/command_words.hpp"
#include "plan/limits.hpp"
#include "plan/option_value.hpp"
#include "plan/option_word.hpp"
#include "plan/resource_directives.hpp"
#include "plan/site_verdicts.hpp"
#include "site/form.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using model::Origin;
using model::Policy;

/// An option whose value is a text that the site may require, forbid or check ("account").
void add_text(PlanContext& context, const std::string& name, const model::Known<std::string>& wanted) {
  const model::FlagRule& rule = context.flag(name);
  const std::string option = "--" + name;
  const std::string form = rule.pattern_hint.empty() ? "" : ", as " + option + "=" + rule.pattern_hint;
  if (wanted && !rule.takes()) return; // said by check_flags
  if (!wanted) {
    if (!rule.default_value.empty()) add_directive(context, option, rule.default_value, rule.origin);
    return;
  }
  std::string value = wanted->value;
  if (!value.empty() && !site::has_suffix(rule, value)) {
    // "abc@v100" where "@h100" is due: another kind of hours, which nobody can exchange for them.
    const auto other = std::isalnum(static_cast<unsigned char>(rule.suffix.front()))
                           ? std::string::npos
                           : value.find(rule.suffix.front());
    if (other != std::string::npos)
      return context.error("request/" + name,
                           option + "=" + value + " is not for this kind of job, whose " + name +
                               " ends with " + rule.suffix + site::cited(rule.origin),
                           "write " + option + "=" + value.substr(0, other) + rule.suffix +
                               ", or ask for what yours is for");
    value += rule.suffix;
    context.note(option + "=" + wanted->value + " is written " + value +
                     (rule.why.empty() ? "" : ": " + rule.why),
                 rule.origin);
  }
  if (wanted->value.empty() || !is_one_line(wanted->value))
    context.error("usage/" + name,
                  option + (wanted->value.empty() ? " is empty" : " must be one line of text"),
                  "give it a value, or leave it out");
  else if (const auto fault = find_value_fault(context.site, name, wanted->value))
    context.error("usage/" + name, fault->what, fault->hint);
  else if (!site::has_form(rule, value))
    context.error("usage/" + name,
                  option + "=" + value + " is not what " + context.site.name + " expects" +
                      site::cited(rule.origin),
                  rule.pattern_hint.empty() ? "it must match " + rule.pattern : "write it" + form.substr(1));
  else
    add_directive(context, option, value, wanted->origin);
}

void add_partition(PlanContext& context) {
  if (context.plan.partition.empty() || !context.flag("partition").takes()) return;
  if (context.partition() && !context.partition()->nameable && !context.job.partition) {
    context.note("no --partition line: Slurm chooses the partition here", context.partition()->origin);
    return;
  }
  Origin origin = context.job.partition ? context.job.partition->origin : context.flag("partition").origin;
  if (!context.job.partition && context.partition()) origin = context.partition()->origin;
  add_directive(context, "--partition", context.plan.partition, origin);
}

/// An option for srun, where the site gives it to the step.
void add_to_step(PlanContext& context, const std::string& option) {
  auto& args = context.plan.launcher.step_args;
  if (std::find(args.begin(), args.end(), option) == args.end()) args.push_back(option);
}

/// True if the job keeps something on the nodes' own disks.
bool uses_local_disk(const PlanContext& context) {
  if (!context.node() || !context.node()->local_disk) return false;
  const auto below = [&](const std::string& path) {
    return util::starts_with(path, *context.node()->local_disk);
  };
  const auto& caches = context.plan.caches;
  return below(context.plan.python.where) || context.plan.stage ||
         std::any_of(caches.begin(), caches.end(), [&](const auto& c) { return below(c.base); });
}

/// What the site wants of every job, of this kind of node, and of the QoS.
void add_site_options(PlanContext& context) {
  const site::JobFacts facts = context.facts();
  const auto contradicts = [&](const std::string& text, const Origin& origin) {
    if (context.plan.layout.threads_per_core == 1 || split_option(text).name != "--hint") return false;
    context.note(text + " is left out: --threads-per-core " +
                     std::to_string(context.plan.layout.threads_per_core) + " was asked for",
                 origin);
    return true;
  };
  const auto add_once = [&](const std::string& text, const Origin& origin) {
    const OptionWord option = split_option(with_job_numbers(context, text));
    if (!context.has_directive(option.name)) add_directive(context, option.name, option.value, origin);
  };
  for (const auto& always : context.site.always) {
    if (!site::applies(always.when, facts) || contradicts(always.value, always.origin)) continue;
    if (always.on_srun)
      add_to_step(context, with_job_numbers(context, always.value));
    else
      add_once(always.value, always.origin);
  }
  if (context.node() && !context.node()->constraint.empty())
    add_once("--constraint=" + context.node()->constraint, context.node()->origin);
  if (context.qos())
    for (const auto& needed : context.qos()->needs) add_once(needed, context.qos()->origin);
  if (!uses_local_disk(context)) return;
  if (const auto& gib = context.node()->local_disk_gib)
    context.note("the nodes' own disk, " + *context.node()->local_disk + ", has " + std::to_string(*gib) +
                     " GiB",
                 context.node()->origin);
  if (context.node()->local_disk_option.empty()) return;
  const std::string& option = context.node()->local_disk_option;
  if (option.find("{gib}") == std::string::npos)
    add_once(option, context.node()->origin);
  else
    context.note("room on the nodes' own disks is asked for with --sbatch=" + option, context.node()->origin);
}

/// The signal without "B:": the batch shell of a script that is written anew has no trap, would die of it and
/// end the job.
model::Sourced<std::string> signal_for_ranks(PlanContext& context, model::Sourced<std::string> signal) {
  const auto colon = signal.value.find(':');
  const auto batch = signal.value.find_first_of("Bb");
  if (context.job.body || colon == std::string::npos || batch > colon ||
      find_value_fault(context.site, "signal", signal.value))
    return signal;
  const auto asked = signal.value;
  signal.value.erase(batch, 1);
  if (signal.value.front() == ':') signal.value.erase(0, 1);
  context.note("--signal=" + asked + " is written " + signal.value +
                   ": the ranks get it; the batch shell would die of it, and the job with it",
               by_rule("a signal before the time limit is for the program"));
  return signal;
}

void add_options(PlanContext& context) {
  const model::JobSpec& job = context.job;
  if (job.signal) add_text(context, "signal", signal_for_ranks(context, *job.signal));
  if (job.requeue) {
    add_directive(context, job.requeue->value ? "--requeue" : "--no-requeue", std::nullopt,
                  job.requeue->origin);
    if (job.requeue->value)
      add_directive(context, "--open-mode", "append", by_rule("a requeued job keeps its earlier output"));
  }
  if (job.array) add_text(context, "array", job.array);
  if (job.dependency) add_text(context, "dependency", job.dependency);
  add_site_options(context);
  if (context.partition() && context.partition()->exclusive &&
      context.partition()->slurm_exclusive == false && !context.has_directive("--exclusive"))
    add_directive(context, "--exclusive", std::nullopt, context.partition()->origin);
}

/// What the user gave raw comes last and wins over a line of the same name; features add up.
void add_raw(PlanContext& context) {
  for (const auto& raw : context.job.sbatch) {
    OptionWord option = split_option(raw.value);
    auto& directives = context.plan.directives;
    const auto same = [&](const auto& planned) { return planned.name == option.name; };
    if (const auto old = std::find_if(directives.begin(), directives.end(), same);
        option.name == "--constraint" && old != directives.end() && option.value &&
        *option.value != *old->value) {
      const bool either = option.value->find('|') != std::string::npos;
      const auto asked = util::split(*option.value, '&');
      auto features = util::split(*old->value, '&');
      if (!either)
        std::erase_if(features, [&](const auto& feature) {
          return std::find(asked.begin(), asked.end(), feature) != asked.end();
        });
      features.push_back(either ? "(" + *option.value + ")" : *option.value);
      option.value = util::join(features, "&");
    }
    if (const auto old = std::find_if(directives.begin(), directives.end(), same); old != directives.end()) {
      if (option.name == "--gres") { // the planned line asks for GPUs, this one for something else
        old->value = old->value.value_or("") + "," + option.value.value_or("");
        continue;
      }
      context.note("--sbatch=" + raw.value + " replaces " + old->name + (old->value ? "=" + *old->value : ""),
                   raw.origin);
      directives.erase(old);
    }
    add_directive(context, option.name, option.value, raw.origin);
  }
}

/// The value that the request has for an option of a flag rule, if it has one.
const Origin* asked_by_user(const PlanContext& context, const std::string& name) {
  const auto of = [](const auto& known) { return known ? &known->origin : nullptr; };
  const model::JobSpec& job = context.job;
  if (name == "account") return of(job.account);
  if (name == "qos") return of(job.qos);
  if (name == "mem") return of(job.mem);
  if (name == "signal") return of(job.signal);
  if (name == "requeue") return of(job.requeue);
  if (name == "array") return of(job.array);
  if (name == "dependency") return of(job.dependency);
  for (const auto& raw : job.sbatch)
    if (split_option(raw.value).name == "--" + name) return &raw.origin;
  return nullptr;
}

/// Moves the option from the header to the step.
void give_to_srun(PlanContext& context, const std::string& option, const Origin& origin) {
  auto& directives = context.plan.directives;
  const auto found =
      std::find_if(directives.begin(), directives.end(), [&](const auto& d) { return d.name == option; });
  if (found == directives.end()) return;
  if (option == "--ntasks-per-node") {
    const model::PlannedLayout& layout = context.plan.layout;
    add_to_step(context, "--ntasks=" + std::to_string(layout.nodes * layout.tasks_per_node));
  }
  add_to_step(context, found->value ? option + "=" + *found->value : option);
  context.note(option + " is given to srun: sbatch refuses it here", origin);
  directives.erase(found);
}

/// Whether a finding speaks of the option already: then it was given, and what is wrong with it is said.
bool is_said(const PlanContext& context, const std::string& name) {
  return std::any_of(context.findings.begin(), context.findings.end(), [&](const auto& finding) {
    return finding.code == "usage/" + name || finding.code == "request/" + name;
  });
}

/// An option that the site wants of every job: one without a value is given, others must be asked for.
void say_missing(PlanContext& context, const site::Verdict& verdict, const std::string& why) {
  const auto& [name, flag] = std::pair(verdict.name, verdict.flag);
  const std::string option = "--" + name;
  if (name == "exclusive")
    add_directive(context, option, std::nullopt, flag->origin);
  else if (!is_said(context, name))
    context.error("usage/" + name, context.site.name + " requires " + option + why,
                  "add " + option + (flag->pattern_hint.empty() ? "" : "=" + flag->pattern_hint));
}

/// Refused, ignored and missing options, by the site's rules; those of the step go there.
void check_flags(PlanContext& context) {
  for (const auto& [name, unconditional] : context.site.flags)
    if (const auto& rule = context.flag(name); rule.policy == Policy::srun_only)
      give_to_srun(context, "--" + name, rule.origin);
  auto demand = demand_of(context);
  for (const auto& [name, unconditional] : context.site.flags)
    if (asked_by_user(context, name)) demand.options.emplace(name, "");
  for (const auto& verdict : judge(context, demand)) {
    if (!verdict.flag) continue;
    const std::string option = "--" + verdict.name;
    const std::string why =
        (verdict.flag->why.empty() ? "" : ": " + verdict.flag->why) + site::cited(verdict.origin);
    if (verdict.rule == site::Rule::option_refused) {
      context.error("request/" + verdict.name, context.site.name + " refuses " + option + why,
                    "leave " + option + " out");
    } else if (verdict.rule == site::Rule::option_ignored && asked_by_user(context, verdict.name)) {
      context.warning("request/" + verdict.name, context.site.name + " ignores " + option + why,
                      "the script has no such line: leave " + option + " out");
      std::erase_if(context.plan.directives, [&](const auto& d) { return d.name == option; });
    } else if (verdict.rule == site::Rule::option_missing) {
      say_missing(context, verdict, why);
    }
  }
}

/// The log lies beside the script: Slurm makes no folders, and a job whose log has none ends without a word.
void add_log(PlanContext& context) {
  const model::JobSpec& job = context.job;
  const bool in_folder = job.job_name && job.job_name->value.find('/') != std::string::npos;
  if (job.output && in_folder && job.output->value.find("%x") != std::string::npos)
    context.error(
        "usage/output",
        "the log " + job.output->value + " of job '" + job.job_name->value +
            "' lies in a folder that its name makes: Slurm makes none, and ends the job without a log",
        "take %x out of --output, or / out of --job-name");
  if (job.output) {
    add_text(context, "output", job.output);
    return;
  }
  std::string name = "%x";
  if (in_folder) {
    name = job.job_name->value;
    for (char& c : name)
      if (c == '/' || c == '%' || c == '\\') c = '_'; // what Slurm would read as more than a name
  }
  add_directive(context, "--output", name + (job.array ? "-%A_%a.out" : "-%j.out"),
                by_rule("job name and job id"));
}

} // namespace

void plan_directives(PlanContext& context) {
  model::Plan& plan = context.plan;
  const model::JobSpec& job = context.job;
  const Origin layout_rule = by_rule("one rank per GPU");
  if (job.job_name)
    add_text(context, "job-name", job.job_name);
  else if (!plan.command.empty())
    add_directive(context, "--job-name", job_name_of(plan.command), by_rule("the program's name"));
  add_text(context, "account", job.account);
  add_partition(context);
  const bool wants_qos =
      context.flag("qos").policy == Policy::required && context.flag("qos").default_value.empty();
  if (!job.qos && wants_qos && context.qos())
    add_directive(context, "--qos", context.qos()->name, context.qos()->origin);
  else
    add_text(context, "qos", job.qos);
  add_directive(context, "--nodes", std::to_string(plan.layout.nodes),
                job.nodes ? job.nodes->origin : by_rule("one node where no number is given"));
  const Origin tasks = plan.layout.tasks_per_node != plan.layout.ranks_per_node
                           ? by_rule("one " + plan.launcher.choice.name() + " per node; it starts the ranks")
                       : job.tasks_per_node ? job.tasks_per_node->origin
                                            : layout_rule;
  add_directive(context, "--ntasks-per-node", std::to_string(plan.layout.tasks_per_node), tasks);
  add_gpu_directive(context);
  add_core_directives(context);
  if (const auto memory = plan_memory(context))
    add_directive(context, "--mem", memory->value.to_slurm(), memory->origin);
  if (const auto time = plan_time(context))
    add_directive(context, "--time", time->value.to_slurm(), time->origin);
  add_log(context);
  add_options(context);
  add_raw(context);
  check_flags(context);
}

} // namespace hpcml::plan
