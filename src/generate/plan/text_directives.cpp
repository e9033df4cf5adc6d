// SPDX-License-Identifier: MIT
#include "generate/plan/text_directives.hpp"

#include <cctype>

#include "core/site_rules/form.hpp"
#include "core/util/one_line.hpp"
#include "generate/plan/option_value.hpp"
#include "generate/plan/resource_directives.hpp"
#include "generate/plan/site_violations.hpp"

namespace hpcml::plan {

void add_text(const SoftwareInput& input, StepResult<Directives>& result, const std::string& name,
              const model::Known<std::string>& wanted) {
  const model::FlagRule& rule = input.flag(name);
  const std::string option = "--" + name;
  const std::string form = rule.pattern_hint.empty() ? "" : ", as " + option + "=" + rule.pattern_hint;
  if (wanted && !rule.takes()) return; // said by check_flags
  if (!wanted) {
    if (!rule.default_value.empty()) add_directive(result.value, option, rule.default_value, rule.origin);
    return;
  }
  std::string value = wanted->value;
  if (!value.empty() && !site_rules::has_suffix(rule, value)) {
    // "abc@v100" where "@h100" is due: another kind of hours, which nobody can exchange for them.
    const auto separator = std::isalnum(static_cast<unsigned char>(rule.suffix.front()))
                               ? std::string::npos
                               : value.find(rule.suffix.front());
    if (separator != std::string::npos)
      return result.remarks.error("request/" + name,
                                  option + "=" + value + " is not for this kind of job, whose " + name +
                                      " ends with " + rule.suffix + site_rules::cited(rule.origin),
                                  "write " + option + "=" + value.substr(0, separator) + rule.suffix +
                                      ", or ask for what yours is for");
    value += rule.suffix;
    result.remarks.note(option + "=" + wanted->value + " is written " + value +
                            (rule.why.empty() ? "" : ": " + rule.why),
                        rule.origin);
  }
  if (wanted->value.empty() || !util::is_one_line(wanted->value))
    result.remarks.error("usage/" + name,
                         option + (wanted->value.empty() ? " is empty" : " must be one line of text"),
                         "give it a value, or leave it out");
  else if (const auto fault = find_value_fault(input.site, name, wanted->value))
    result.remarks.error("usage/" + name, fault->what, fault->hint);
  else if (!site_rules::has_form(rule, value))
    result.remarks.error("usage/" + name,
                         option + "=" + value + " is not what " + input.site.name + " expects" +
                             site_rules::cited(rule.origin),
                         rule.pattern_hint.empty() ? "it must match " + rule.pattern
                                                   : "write it" + form.substr(1));
  else
    add_directive(result.value, option, value, wanted->origin);
}

namespace {

/// The signal without "B:": the batch shell of a script that is written anew has no trap, would die of it and
/// end the job.
model::Sourced<std::string> signal_for_ranks(const SoftwareInput& input, model::Sourced<std::string> signal,
                                             StepDiagnostics& diagnostics) {
  const auto colon = signal.value.find(':');
  const auto batch = signal.value.find_first_of("Bb");
  if (input.job.body || colon == std::string::npos || batch > colon ||
      find_value_fault(input.site, "signal", signal.value))
    return signal;
  const auto written = signal.value;
  signal.value.erase(batch, 1);
  if (signal.value.front() == ':') signal.value.erase(0, 1);
  diagnostics.note("--signal=" + written + " is written " + signal.value +
                       ": the ranks get it; the batch shell would die of it, and the job with it",
                   rule_origin("a signal before the time limit is for the program"));
  return signal;
}

} // namespace

void add_signal(const SoftwareInput& input, StepResult<Directives>& result) {
  if (const auto& saving = input.launch.saving)
    return add_directive(result.value, "--signal",
                         "B:" + std::string(model::k_limit_signal) + "@" + std::to_string(saving->seconds),
                         saving->requested_by);
  if (const auto& signal = input.job.signal)
    add_text(input, result, "signal", signal_for_ranks(input, *signal, result.remarks));
}

void add_log(const SoftwareInput& input, StepResult<Directives>& result) {
  const model::JobSpec& job = input.job;
  const bool in_directory = job.job_name && job.job_name->value.find('/') != std::string::npos;
  if (job.output && in_directory && job.output->value.find("%x") != std::string::npos)
    result.remarks.error(
        "usage/output",
        "the log " + job.output->value + " of job '" + job.job_name->value +
            "' lies in a folder that its name makes: Slurm makes none, and ends the job without a log",
        "take %x out of --output, or / out of --job-name");
  if (job.output) {
    add_text(input, result, "output", job.output);
    return;
  }
  std::string name = "%x";
  if (in_directory) {
    name = job.job_name->value;
    for (char& c : name)
      if (c == '/' || c == '%' || c == '\\') c = '_'; // what Slurm would read as more than a name
  }
  add_directive(result.value, "--output", name + (job.array ? "-%A_%a.out" : "-%j.out"),
                rule_origin("job name and job id"));
}

} // namespace hpcml::plan
