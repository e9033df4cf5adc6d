// SPDX-License-Identifier: MIT
#include "plan/directives.hpp"

#include <algorithm>
#include <cctype>

#include "plan/command_words.hpp"
#include "plan/limits.hpp"
#include "plan/option_value.hpp"
#include "plan/resource_directives.hpp"
#include "plan/site_verdicts.hpp"
#include "site/form.hpp"
#include "slurm/option_word.hpp"
#include "util/one_line.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using model::Origin;
using model::Policy;

/// An option whose value is a text that the site may require, forbid or check ("account").
void add_text(const Equipped& given, Told<Directives>& told, const std::string& name,
              const model::Known<std::string>& wanted) {
  const model::FlagRule& rule = given.flag(name);
  const std::string option = "--" + name;
  const std::string form = rule.pattern_hint.empty() ? "" : ", as " + option + "=" + rule.pattern_hint;
  if (wanted && !rule.takes()) return; // said by check_flags
  if (!wanted) {
    if (!rule.default_value.empty()) add_directive(told.value, option, rule.default_value, rule.origin);
    return;
  }
  std::string value = wanted->value;
  if (!value.empty() && !site::has_suffix(rule, value)) {
    // "abc@v100" where "@h100" is due: another kind of hours, which nobody can exchange for them.
    const auto other = std::isalnum(static_cast<unsigned char>(rule.suffix.front()))
                           ? std::string::npos
                           : value.find(rule.suffix.front());
    if (other != std::string::npos)
      return told.remarks.error("request/" + name,
                                option + "=" + value + " is not for this kind of job, whose " + name +
                                    " ends with " + rule.suffix + site::cited(rule.origin),
                                "write " + option + "=" + value.substr(0, other) + rule.suffix +
                                    ", or ask for what yours is for");
    value += rule.suffix;
    told.remarks.note(option + "=" + wanted->value + " is written " + value +
                          (rule.why.empty() ? "" : ": " + rule.why),
                      rule.origin);
  }
  if (wanted->value.empty() || !util::is_one_line(wanted->value))
    told.remarks.error("usage/" + name,
                       option + (wanted->value.empty() ? " is empty" : " must be one line of text"),
                       "give it a value, or leave it out");
  else if (const auto fault = find_value_fault(given.site, name, wanted->value))
    told.remarks.error("usage/" + name, fault->what, fault->hint);
  else if (!site::has_form(rule, value))
    told.remarks.error(
        "usage/" + name,
        option + "=" + value + " is not what " + given.site.name + " expects" + site::cited(rule.origin),
        rule.pattern_hint.empty() ? "it must match " + rule.pattern : "write it" + form.substr(1));
  else
    add_directive(told.value, option, value, wanted->origin);
}

void add_partition(const Equipped& given, Told<Directives>& told) {
  if (given.placement.partition.empty() || !given.flag("partition").takes()) return;
  if (given.partition() && !given.partition()->nameable && !given.job.partition) {
    told.remarks.note("no --partition line: Slurm chooses the partition here", given.partition()->origin);
    return;
  }
  Origin origin = given.job.partition ? given.job.partition->origin : given.flag("partition").origin;
  if (!given.job.partition && given.partition()) origin = given.partition()->origin;
  add_directive(told.value, "--partition", given.placement.partition, origin);
}

/// An option for srun, where the site gives it to the step.
void add_to_step(Directives& directives, const std::string& option) {
  auto& args = directives.step_args;
  if (std::find(args.begin(), args.end(), option) == args.end()) args.push_back(option);
}

/// True if the job keeps something on the nodes' own disks.
bool uses_local_disk(const Equipped& given) {
  if (!given.node() || !given.node()->local_disk) return false;
  const std::string& disk = *given.node()->local_disk;
  const auto below = [&](const std::string& path) { return util::starts_with(path, disk); };
  const auto& caches = given.software.caches;
  return below(given.software.python.where) || given.software.stage ||
         std::any_of(caches.begin(), caches.end(), [&](const auto& c) { return below(c.base); });
}

/// What the site wants of every job, of this kind of node, and of the QoS.
void add_site_options(const Equipped& given, Told<Directives>& told) {
  const auto contradicts = [&](const std::string& text, const Origin& origin) {
    if (given.numbers().threads_per_core == 1 || slurm::split_option(text).name != "--hint") return false;
    told.remarks.note(text + " is left out: --threads-per-core " +
                          std::to_string(given.numbers().threads_per_core) + " was asked for",
                      origin);
    return true;
  };
  const auto add_once = [&](const std::string& text, const Origin& origin) {
    const slurm::OptionWord option = slurm::split_option(given.with_numbers(text));
    if (!told.value.has(option.name)) add_directive(told.value, option.name, option.value, origin);
  };
  for (const auto& always : given.site.always) {
    if (!given.applies(always.when) || contradicts(always.value, always.origin)) continue;
    if (always.on_srun)
      add_to_step(told.value, given.with_numbers(always.value));
    else
      add_once(always.value, always.origin);
  }
  if (given.node() && !given.node()->constraint.empty())
    add_once("--constraint=" + given.node()->constraint, given.node()->origin);
  if (given.qos())
    for (const auto& needed : given.qos()->needs) add_once(needed, given.qos()->origin);
  if (!uses_local_disk(given)) return;
  if (const auto& gib = given.node()->local_disk_gib)
    told.remarks.note("the nodes' own disk, " + *given.node()->local_disk + ", has " + std::to_string(*gib) +
                          " GiB",
                      given.node()->origin);
  if (given.node()->local_disk_option.empty()) return;
  const std::string& option = given.node()->local_disk_option;
  if (option.find("{gib}") == std::string::npos)
    add_once(option, given.node()->origin);
  else
    told.remarks.note("room on the nodes' own disks is asked for with --sbatch=" + option,
                      given.node()->origin);
}

/// The signal without "B:": the batch shell of a script that is written anew has no trap, would die of it and
/// end the job.
model::Sourced<std::string> signal_for_ranks(const Equipped& given, model::Sourced<std::string> signal,
                                             Remarks& said) {
  const auto colon = signal.value.find(':');
  const auto batch = signal.value.find_first_of("Bb");
  if (given.job.body || colon == std::string::npos || batch > colon ||
      find_value_fault(given.site, "signal", signal.value))
    return signal;
  const auto asked = signal.value;
  signal.value.erase(batch, 1);
  if (signal.value.front() == ':') signal.value.erase(0, 1);
  said.note("--signal=" + asked + " is written " + signal.value +
                ": the ranks get it; the batch shell would die of it, and the job with it",
            by_rule("a signal before the time limit is for the program"));
  return signal;
}

void add_options(const Equipped& given, Told<Directives>& told) {
  const model::JobSpec& job = given.job;
  if (job.signal) add_text(given, told, "signal", signal_for_ranks(given, *job.signal, told.remarks));
  if (job.requeue) {
    add_directive(told.value, job.requeue->value ? "--requeue" : "--no-requeue", std::nullopt,
                  job.requeue->origin);
    if (job.requeue->value)
      add_directive(told.value, "--open-mode", "append", by_rule("a requeued job keeps its earlier output"));
  }
  if (job.array) add_text(given, told, "array", job.array);
  if (job.dependency) add_text(given, told, "dependency", job.dependency);
  add_site_options(given, told);
  if (given.partition() && given.partition()->exclusive && given.partition()->slurm_exclusive == false &&
      !told.value.has("--exclusive"))
    add_directive(told.value, "--exclusive", std::nullopt, given.partition()->origin);
}

/// What the user gave raw comes last and wins over a line of the same name; features add up.
void add_raw(const Equipped& given, Told<Directives>& told) {
  for (const auto& raw : given.job.sbatch) {
    slurm::OptionWord option = slurm::split_option(raw.value);
    auto& directives = told.value.header;
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
      told.remarks.note("--sbatch=" + raw.value + " replaces " + old->name +
                            (old->value ? "=" + *old->value : ""),
                        raw.origin);
      directives.erase(old);
    }
    add_directive(told.value, option.name, option.value, raw.origin);
  }
}

/// The value that the request has for an option of a flag rule, if it has one.
const Origin* asked_by_user(const LaidOut& given, const std::string& name) {
  const auto of = [](const auto& known) { return known ? &known->origin : nullptr; };
  const model::JobSpec& job = given.job;
  if (name == "account") return of(job.account);
  if (name == "qos") return of(job.qos);
  if (name == "mem") return of(job.mem);
  if (name == "signal") return of(job.signal);
  if (name == "requeue") return of(job.requeue);
  if (name == "array") return of(job.array);
  if (name == "dependency") return of(job.dependency);
  for (const auto& raw : job.sbatch)
    if (slurm::split_option(raw.value).name == "--" + name) return &raw.origin;
  return nullptr;
}

/// Moves the option from the header to the step.
void give_to_srun(const Equipped& given, Told<Directives>& told, const std::string& option,
                  const Origin& origin) {
  auto& directives = told.value.header;
  const auto found =
      std::find_if(directives.begin(), directives.end(), [&](const auto& d) { return d.name == option; });
  if (found == directives.end()) return;
  if (option == "--ntasks-per-node") {
    const model::PlannedLayout& layout = given.numbers();
    add_to_step(told.value, "--ntasks=" + std::to_string(layout.nodes * layout.tasks_per_node));
  }
  add_to_step(told.value, found->value ? option + "=" + *found->value : option);
  told.remarks.note(option + " is given to srun: sbatch refuses it here", origin);
  directives.erase(found);
}

/// What the site says why, and where.
std::string why_of(const site::Verdict& verdict) {
  return (verdict.flag->why.empty() ? "" : ": " + verdict.flag->why) + site::cited(verdict.origin);
}

/// Whether a finding speaks of the option already: then it was given, and what is wrong with it is said.
bool is_said(const diag::Diagnostics& findings, const std::string& name) {
  return std::any_of(findings.begin(), findings.end(), [&](const auto& finding) {
    return finding.code == "usage/" + name || finding.code == "request/" + name;
  });
}

/// An option that the site wants of every job: one without a value is given, others must be asked for.
void say_missing(const model::Site& site, const site::Verdict& verdict, const diag::Diagnostics& earlier,
                 Told<Directives>& told) {
  const auto& [name, flag] = std::pair(verdict.name, verdict.flag);
  const std::string option = "--" + name;
  if (name == "exclusive")
    add_directive(told.value, option, std::nullopt, flag->origin);
  else if (!is_said(earlier, name) && !is_said(told.remarks.findings, name))
    told.remarks.error("usage/" + name, site.name + " requires " + option + why_of(verdict),
                       "add " + option + (flag->pattern_hint.empty() ? "" : "=" + flag->pattern_hint));
}

/// Refused, ignored and missing options, by the site's rules; those of the step go there.
void check_flags(const Equipped& given, const diag::Diagnostics& earlier, Told<Directives>& told) {
  for (const auto& [name, unconditional] : given.site.flags)
    if (const auto& rule = given.flag(name); rule.policy == Policy::srun_only)
      give_to_srun(given, told, "--" + name, rule.origin);
  auto demand = demand_of(given, told.value.header);
  for (const auto& [name, unconditional] : given.site.flags)
    if (asked_by_user(given, name)) demand.options.emplace(name, "");
  const Judgement judgement(given, std::move(demand));
  for (const auto& verdict : judgement.verdicts()) {
    if (!verdict.flag) continue;
    const std::string option = "--" + verdict.name;
    if (verdict.rule == site::Rule::option_refused) {
      told.remarks.error("request/" + verdict.name, given.site.name + " refuses " + option + why_of(verdict),
                         "leave " + option + " out");
    } else if (verdict.rule == site::Rule::option_ignored && asked_by_user(given, verdict.name)) {
      told.remarks.warning("request/" + verdict.name,
                           given.site.name + " ignores " + option + why_of(verdict),
                           "the script has no such line: leave " + option + " out");
      std::erase_if(told.value.header, [&](const auto& d) { return d.name == option; });
    } else if (verdict.rule == site::Rule::option_missing) {
      say_missing(given.site, verdict, earlier, told);
    }
  }
}

/// The log lies beside the script: Slurm makes no folders, and a job whose log has none ends without a word.
void add_log(const Equipped& given, Told<Directives>& told) {
  const model::JobSpec& job = given.job;
  const bool in_folder = job.job_name && job.job_name->value.find('/') != std::string::npos;
  if (job.output && in_folder && job.output->value.find("%x") != std::string::npos)
    told.remarks.error(
        "usage/output",
        "the log " + job.output->value + " of job '" + job.job_name->value +
            "' lies in a folder that its name makes: Slurm makes none, and ends the job without a log",
        "take %x out of --output, or / out of --job-name");
  if (job.output) {
    add_text(given, told, "output", job.output);
    return;
  }
  std::string name = "%x";
  if (in_folder) {
    name = job.job_name->value;
    for (char& c : name)
      if (c == '/' || c == '%' || c == '\\') c = '_'; // what Slurm would read as more than a name
  }
  add_directive(told.value, "--output", name + (job.array ? "-%A_%a.out" : "-%j.out"),
                by_rule("job name and job id"));
}

} // namespace

bool Directives::has(const std::string& name) const {
  return std::any_of(header.begin(), header.end(), [&](const auto& one) { return one.name == name; });
}

Told<Directives> plan_directives(const Equipped& given, const diag::Diagnostics& said) {
  Told<Directives> told{{given.software.image_options, given.launcher().step_args}};
  auto& header = told.value;
  const model::JobSpec& job = given.job;
  const model::PlannedLayout& layout = given.numbers();
  if (job.job_name)
    add_text(given, told, "job-name", job.job_name);
  else if (const auto& command = given.software.command; !command.empty())
    add_directive(header, "--job-name", job_name_of(command), by_rule("the program's name"));
  add_text(given, told, "account", job.account);
  add_partition(given, told);
  const auto& qos_rule = given.flag("qos");
  if (!job.qos && qos_rule.policy == Policy::required && qos_rule.default_value.empty() && given.qos())
    add_directive(header, "--qos", given.qos()->name, given.qos()->origin);
  else
    add_text(given, told, "qos", job.qos);
  add_directive(header, "--nodes", std::to_string(layout.nodes),
                job.nodes ? job.nodes->origin : by_rule("one node where no number is given"));
  const Origin tasks =
      layout.tasks_per_node != layout.ranks_per_node
          ? by_rule("one " + given.launcher().choice.name() + " per node; it starts the ranks")
      : job.tasks_per_node ? job.tasks_per_node->origin
                           : by_rule("one rank per GPU");
  add_directive(header, "--ntasks-per-node", std::to_string(layout.tasks_per_node), tasks);
  add_gpu_directive(given, told);
  add_core_directives(given, told);
  const Judgement judgement(given, demand_of(given));
  if (const auto memory = plan_memory(given, judgement, told.remarks))
    add_directive(header, "--mem", memory->value.to_slurm(), memory->origin);
  if (const auto time = plan_time(given, judgement, told.remarks))
    add_directive(header, "--time", time->value.to_slurm(), time->origin);
  add_log(given, told);
  add_options(given, told);
  add_raw(given, told);
  if (!job.sbatch.empty()) refuse_combinations(told.remarks, given.site, header.header);
  check_flags(given, said, told);
  return told;
}

} // namespace hpcml::plan
