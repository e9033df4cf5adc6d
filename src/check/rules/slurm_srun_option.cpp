// SPDX-License-Identifier: MIT
// Options on a srun line that no srun has, or not that version's.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "check/rule.hpp"
#include "core/slurm/options.hpp"
#include "core/slurm/value_fault.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_srun_option {

using slurm::Program;

/// The option that the name most likely was meant to be: one with a letter, an "s" or an "n" more or less:
/// "cpu-per-task", "tasks-per-nodes". Empty where several are as near, or none.
std::string nearest_option(const std::string& name) {
  std::set<std::string> found;
  const auto words = util::split(name, '-');
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const auto& variant : {words[i] + "s", words[i].substr(0, words[i].size() - words[i].ends_with('s')),
                                "n" + words[i], words[i].substr(words[i].starts_with('n') ? 1 : 0)}) {
      auto changed = words;
      changed[i] = variant;
      const auto text = util::join(changed, "-");
      if (text != name && slurm::is_option(Program::srun, text)) found.insert(text);
    }
  return found.size() == 1 ? *found.begin() : std::string();
}

/// What is wrong with a name that srun of the subject's version does not resolve; empty where a plugin may
/// have it.
std::string problem(const LintContext& subject, std::string_view name, std::string& hint, std::string& full) {
  const auto any = slurm::find_option(Program::srun, name);
  if (any.option) { // another version has it
    hint = fmt::format("Slurm {} has it", slurm::versions_of(Program::srun, any.option->name));
    return fmt::format("srun {} has no option --{}", name_of(subject.version), name);
  }
  auto dashed = util::replace_all(std::string(name), "_", "-");
  if (dashed != name && slurm::is_option(Program::srun, dashed)) {
    hint = "use --" + dashed;
    full = dashed;
    return fmt::format("srun has no option --{}", name);
  }
  if (slurm::is_option(Program::sbatch, name)) {
    hint = "use it as a directive: it is an option of sbatch";
    return fmt::format("srun has no option --{}", name);
  }
  if (const auto near = nearest_option(dashed); !near.empty()) {
    hint = "use --" + near;
    full = near;
    return fmt::format("srun has no option --{}", name);
  }
  return {};
}

/// "-ntasks=4" and "-nodes 2": with one dash the letters after the first are the value of -n or -N.
void find_single_dash(const LintContext& subject, const Link& link, RuleMatches& hits) {
  for (const auto& option : link.options) {
    const auto written = subject.text.substr(option.place.offset, option.place.length);
    if (written.size() < 5 || written[0] != '-' || written[1] == '-') continue;
    const auto name = written.substr(1, std::min(written.find_first_of("= \t"), written.size()) - 1);
    if (name.size() < 4 || name.find_first_of("0123456789,$\"'") != std::string_view::npos ||
        !slurm::is_option(Program::srun, name))
      continue;
    const auto letter = slurm::find_option(Program::srun, name[0]);
    if (!letter || letter->argument == slurm::TakesValue::none) continue;
    hits.push_back({{option.place.offset, name.size() + 1},
                    fmt::format("srun reads -{} as -{} with the value '{}'", name, name[0], name.substr(1)),
                    fmt::format("use --{}", name),
                    {{option.place.offset, 0, "-"}}});
  }
}

/// The part of a --cpu-bind that srun does not know; empty where it knows all, or lists of masks follow.
std::string unknown_binding(const std::string& value) {
  static constexpr std::array<std::string_view, 18> k_known = {
      "board", "boards", "core",       "cores", "help",      "ldom",   "ldoms",   "no",     "none",
      "q",     "quiet",  "one_thread", "rank",  "rank_ldom", "socket", "sockets", "thread", "threads"};
  for (const auto& part : util::split(value, ',')) {
    if (part.starts_with("map_") || part.starts_with("mask_")) return {};
    if (!part.empty() && part != "v" && part != "verbose" &&
        std::find(k_known.begin(), k_known.end(), part) == k_known.end())
      return part;
  }
  return {};
}

/// What is wrong with the value of an option, in sbatch's words; empty where srun reads it.
std::string value_fault(const LintContext& subject, const GivenOption& option) {
  static constexpr std::array<std::string_view, 12> k_options = {
      "cpus-per-task", "gpu-bind",    "gpus",  "gpus-per-node", "gpus-per-task",   "mem",
      "mem-per-cpu",   "mem-per-gpu", "nodes", "ntasks",        "ntasks-per-node", "time"};
  const auto value = option.value->text();
  if (option.name == "cpu-bind") {
    const auto part = unknown_binding(value);
    return part.empty() ? std::string() : "use cores, sockets, threads, ldoms, none or a list of masks";
  }
  if (std::find(k_options.begin(), k_options.end(), option.name) == k_options.end()) return {};
  return slurm::find_value_fault(option.name, value,
                                 subject.version_known ? std::optional(subject.version) : std::nullopt)
      .value_or("");
}

/// Values that srun does not read: "--cpu-bind=closest", "--mem=4 G".
void find_values(const LintContext& subject, const Link& link, RuleMatches& hits) {
  for (const auto& option : link.options) {
    if (!option.value || !option.value->known() || option.value->caveat) continue;
    auto fault = value_fault(subject, option);
    if (fault.empty()) continue;
    hits.push_back({option.place, fmt::format("srun --{} cannot be '{}'", option.name, option.value->text()),
                    std::move(fault)});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto& link = launch.chain.front();
    if (link.program != "srun" || launch.command->parent) continue;
    find_single_dash(subject, link, hits);
    if (hits.empty()) find_values(subject, link, hits);
    for (const auto& option : link.options) {
      const auto place = option.place;
      if (subject.text.substr(place.offset, 2 + std::min<std::size_t>(option.name.size(), 2)) !=
          "--" + option.name.substr(0, 2))
        continue;
      const auto written = subject.text.substr(
          place.offset + 2,
          std::min(subject.text.find_first_of("= \t\r\n\\", place.offset), subject.text.size()) -
              place.offset - 2);
      const auto match = slurm::find_option(
          Program::srun, written, subject.version_known ? std::optional(subject.version) : std::nullopt);
      if (match.option || match.candidates.size() > 1) continue;
      std::string hint, full;
      auto message = problem(subject, written, hint, full);
      if (message.empty()) continue;
      RuleMatch hit{{place.offset, written.size() + 2}, std::move(message), std::move(hint)};
      if (!full.empty()) hit.fix = {{place.offset + 2, written.size(), full}};
      hits.push_back(std::move(hit));
    }
  }
  return hits;
}

} // namespace slurm_srun_option

Rule rule_slurm_srun_option() {
  using namespace slurm_srun_option;
  return {
      .id = "slurm/srun-option",
      .severity = diag::Severity::warning,
      .title = "Option or value that srun does not know",
      .why = "srun stops at an unknown option before it starts anything: the job runs, waits for nothing and "
             "ends. Options of sbatch alone (--array, --wrap), typos and values of another option "
             "(--cpu-bind=closest) are the usual ones.",
      .link = "https://slurm.schedmd.com/srun.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
srun --cpus_per_task=4 ./a
)"},
      .good = {R"(#!/bin/bash
srun --cpus-per-task=4 ./a --cpus_per_task=4
)"},
      .find = find,
  };
}

} // namespace hpcml::check
