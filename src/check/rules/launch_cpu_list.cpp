// SPDX-License-Identifier: MIT
// CPU numbers written into numactl and taskset, which the job may not have.
#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <vector>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_cpu_list {

bool is_list(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9' &&
         text.find_first_not_of("0123456789,-:") == std::string_view::npos;
}

/// Whether the value is a list of numbers, also by a variable that gets some in the text.
bool is_fixed(const LintContext& subject, const shell::Argument& value, std::string_view text) {
  if (value.known()) return is_list(text);
  std::string name(text);
  std::erase_if(name, [](char c) { return c == '$' || c == '{' || c == '}'; });
  for (auto at = subject.text.find(name + "="); at != std::string_view::npos && !name.empty();
       at = subject.text.find(name + "=", at + 1)) {
    const auto rest = subject.text.substr(at + name.size() + 1);
    if (is_list(rest.substr(0, std::min(rest.find_first_of("; \t\n\"'"), rest.size())))) return true;
  }
  return false;
}

/// The word with a fixed list among the options from words[at] on; nothing without one. `list_options`: those
/// whose value is a list of CPUs.
const shell::Argument* find_list(const LintContext& subject, const std::vector<shell::Argument>& words,
                                 std::size_t at, std::initializer_list<std::string_view> list_options) {
  for (; at < words.size() && words[at].prefix().starts_with("-"); ++at) {
    const auto text = words[at].text();
    for (const auto option : list_options) {
      if (text == option && at + 1 < words.size())
        return is_fixed(subject, words[at + 1], words[at + 1].text()) ? &words[at + 1] : nullptr;
      if (text.starts_with(option) && text.size() > option.size() && text[option.size()] == '=')
        return is_fixed(subject, words[at], std::string_view(text).substr(option.size() + 1)) ? &words[at]
                                                                                              : nullptr;
    }
    const bool has_value = text == "-m" || text == "-N" || text == "-i" || text == "-p"; // numactl's
    if (has_value) ++at;
  }
  return nullptr;
}

/// The word that holds the list of CPUs of a numactl or taskset in front of the program.
const shell::Argument* find_list(const LintContext& subject, const shell::Command& command) {
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const auto program = util::base_name(command.words[i].text());
    if (program == "numactl") return find_list(subject, command.words, i + 1, {"--physcpubind", "-C"});
    if (program == "taskset") return find_list(subject, command.words, i + 1, {"--cpu-list", "-c"});
  }
  return nullptr;
}

/// Whether the job has its nodes to itself, or takes all of their CPUs from srun's binding.
bool owns_cpus(const LintContext& subject, const Launch& launch) {
  const auto& request = subject.requests[0];
  if (request.sharing == slurm::NodeSharing::exclusive || request.text("mem") == "0") return true;
  if (subject.fits.size() == 1 && (subject.fits[0].owns_nodes() || subject.fits[0].facts.whole_nodes))
    return true;
  const auto* step = launch.step();
  return step && find_any(*step, {"cpu-bind", "exclusive"}) != nullptr;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.size() != 1 || subject.header.directives.empty() ||
      (subject.text.find("numactl") == std::string_view::npos &&
       subject.text.find("taskset") == std::string_view::npos))
    return hits;
  for (const auto& launch : subject.launches) {
    const auto* list = find_list(subject, *launch.command);
    if (!list || owns_cpus(subject, launch)) continue;
    add_match(hits,
              {list->place, "Slurm may have given the job other CPUs than these",
               "remove the list and use srun --cpu-bind=cores, or request whole nodes with --exclusive"});
  }
  return hits;
}

} // namespace launch_cpu_list

Rule rule_launch_cpu_list() {
  using namespace launch_cpu_list;
  return {
      .id = "launch/cpu-list",
      .severity = diag::Severity::note,
      .title = "CPU numbers in numactl or taskset",
      .why = "On a shared node Slurm chooses the CPUs of a job, and srun binds each task to its own. A fixed "
             "list then names CPUs outside of them: numactl ends with \"cpu argument is out of range\".",
      .link = "https://man7.org/linux/man-pages/man8/numactl.8.html",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=8
srun numactl --physcpubind=0-7 python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=8 --exclusive
srun numactl --physcpubind=0-7 python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
