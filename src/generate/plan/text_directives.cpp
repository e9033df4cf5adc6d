// SPDX-License-Identifier: MIT
#include "generate/plan/text_directives.hpp"

#include <cctype>
#include <fmt/format.h>

#include "core/site_rules/option_pattern.hpp"
#include "core/util/one_line.hpp"
#include "generate/plan/option_value.hpp"
#include "generate/plan/resource_directives.hpp"
#include "generate/plan/site_violations.hpp"

namespace hpcml::plan {

void add_text(const RequestWithSoftware& input, PlanStepResult<Directives>& result, const std::string& name,
              const model::Known<std::string>& wanted) {
  const model::SbatchOptionRule& rule = input.flag(name);
  const std::string option = "--" + name;
  if (wanted && !rule.takes()) return; // said by check_flags
  if (!wanted) {
    if (!rule.default_value.empty()) add_directive(result.value, option, rule.default_value, rule.origin);
    return;
  }
  std::string value = wanted->value;
  if (!value.empty() && !site_rules::has_suffix(rule, value)) {
    // "abc@v100" instead of "@h100" is an account for other hours, which cannot be exchanged.
    const auto separator = std::isalnum(static_cast<unsigned char>(rule.suffix.front()))
                               ? std::string::npos
                               : value.find(rule.suffix.front());
    if (separator != std::string::npos)
      return result.remarks.error(
          "request/" + name,
          fmt::format("{}={} does not end with {}, which jobs with these resources require", option, value,
                      rule.suffix),
          fmt::format("use {}={}{}, or request the resources for which {} is valid", option,
                      value.substr(0, separator), rule.suffix, value),
          rule.origin);
    value += rule.suffix;
    result.remarks.note(fmt::format("{}={} becomes {}{}", option, wanted->value, value,
                                    rule.why.empty() ? "" : ": " + rule.why),
                        rule.origin);
  }
  if (wanted->value.empty() || !util::is_one_line(wanted->value))
    result.remarks.error(
        "usage/" + name,
        wanted->value.empty() ? fmt::format("{} is empty", option)
                              : fmt::format("{} has a line break or another control character", option),
        fmt::format("set a value, or remove {}: the value must be one line of text", option));
  else if (const auto fault = find_value_fault(input.site, name, wanted->value))
    result.remarks.error("usage/" + name, fault->what, fault->hint);
  else if (!site_rules::matches_pattern(rule, value))
    result.remarks.error("usage/" + name,
                         fmt::format("{}={} does not have the form that {} expects{}", option, value,
                                     input.site.name, rule.why.empty() ? "" : ": " + rule.why),
                         rule.pattern_hint.empty() ? fmt::format("use a value that matches {}", rule.pattern)
                                                   : fmt::format("use {}={}", option, rule.pattern_hint),
                         rule.origin);
  else
    add_directive(result.value, option, value, wanted->origin);
}

namespace {

/// The signal without "B:": the batch shell of a script that is written again has no trap, would die of it
/// and end the job.
model::Sourced<std::string> signal_for_ranks(const RequestWithSoftware& input,
                                             model::Sourced<std::string> signal,
                                             PlanStepDiagnostics& diagnostics) {
  const auto colon = signal.value.find(':');
  const auto batch = signal.value.find_first_of("Bb");
  if (input.job.body || colon == std::string::npos || batch > colon ||
      find_value_fault(input.site, "signal", signal.value))
    return signal;
  const auto written = signal.value;
  signal.value.erase(batch, 1);
  if (signal.value.front() == ':') signal.value.erase(0, 1);
  diagnostics.note(
      fmt::format("--signal={} becomes --signal={}, so that only the ranks receive the signal: it "
                  "would kill the batch shell, and so end the job",
                  written, signal.value),
      rule_origin("signals for ranks"));
  return signal;
}

} // namespace

void add_signal(const RequestWithSoftware& input, PlanStepResult<Directives>& result) {
  if (const auto& saving = input.launch.saving)
    return add_directive(result.value, "--signal",
                         "B:" + std::string(model::k_limit_signal) + "@" + std::to_string(saving->seconds),
                         saving->requested_by);
  if (const auto& signal = input.job.signal)
    add_text(input, result, "signal", signal_for_ranks(input, *signal, result.remarks));
}

void add_log(const RequestWithSoftware& input, PlanStepResult<Directives>& result) {
  const model::JobSpec& job = input.job;
  const bool in_directory = job.job_name && job.job_name->value.find('/') != std::string::npos;
  if (job.output && in_directory && job.output->value.find("%x") != std::string::npos)
    result.remarks.error("usage/output",
                         fmt::format("the log {} would be in a directory that Slurm does not create, because "
                                     "the job name '{}' has a /: the job would have no log",
                                     job.output->value, job.job_name->value),
                         "remove %x from --output, or / from --job-name");
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
