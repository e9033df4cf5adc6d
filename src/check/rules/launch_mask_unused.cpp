// SPDX-License-Identifier: MIT
// Masks that a script builds and no step takes.
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <vector>

#include "check/launch_facts.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_mask_unused {

/// "mask_cpu:…", "map_cpu:…", or a list of masks: "0xfe,0xfe00".
bool is_masks(std::string_view value) {
  if (value.find("mask_cpu") != std::string_view::npos || value.find("map_cpu") != std::string_view::npos)
    return true;
  const auto comma = value.find(",0x");
  const auto first = value.find_first_not_of("\"'");
  return comma != std::string_view::npos && first != std::string_view::npos && value.substr(first, 2) == "0x";
}

/// What a name gets in a line, as far as its quotes or the next space: after that is another word.
std::string_view assigned_value(std::string_view text) {
  const bool quoted = !text.empty() && (text[0] == '"' || text[0] == '\'');
  const auto end = quoted ? text.find(text[0], 1) : text.find_first_of(" \t;");
  return text.substr(0, end);
}

struct Assigned {
  std::string_view name;
  std::size_t offset = 0;
};

/// `NAME=masks` on their own lines, also after `export`, which hands them to programs.
std::vector<Assigned> masks_assigned(std::string_view text) {
  std::vector<Assigned> list;
  if (text.find("_cpu") == std::string_view::npos && text.find(",0x") == std::string_view::npos) return list;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    const auto begin = line.find_first_not_of(" \t");
    const auto equals = line.find('=');
    if (begin != std::string_view::npos && equals != std::string_view::npos && equals > begin) {
      const auto name = line.substr(begin, equals - begin);
      if (util::is_variable_name(name) && is_masks(assigned_value(line.substr(equals + 1))))
        list.push_back({name, at + begin});
    }
    at = end + 1;
  }
  return list;
}

/// The names that are anywhere but where they are assigned: read, exported, unset, given to a command.
std::set<std::string_view> names_used(std::string_view text) {
  std::set<std::string_view> used;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, std::min(text.substr(at, end - at).find('#'), end - at));
    const auto first = line.find_first_not_of(" \t");
    for (std::size_t i = 0; i < line.size();) {
      auto last = i;
      while (last < line.size() && util::is_name_char(line[last])) ++last;
      const bool assigned = i == first && last < line.size() && (line[last] == '=' || line[last] == '+');
      if (last > i && !assigned) used.insert(line.substr(i, last - i));
      i = std::max(last, i + 1);
    }
    at = end + 1;
  }
  return used;
}

RuleMatches find(const LintContext& subject) {
  if (subject.text.find("0x") == std::string_view::npos &&
      subject.text.find("_cpu") == std::string_view::npos)
    return {};
  const bool steps = std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
    return launch.step() && launch.step()->program == "srun";
  });
  if (!steps) return {};
  const auto assigned = masks_assigned(subject.text);
  if (assigned.empty()) return {};
  const auto used = names_used(subject.text);
  // Where one list is used the others are alternatives to it.
  if (std::any_of(assigned.begin(), assigned.end(),
                  [&](const Assigned& assignment) { return used.count(assignment.name) != 0; }))
    return {};
  RuleMatches hits;
  for (const auto& [name, offset] : assigned)
    if (!name.starts_with("SLURM_") && !name.starts_with("SRUN_") && used.count(name) == 0 &&
        !is_explained(subject, {offset, name.size()}))
      hits.add({{offset, name.size()},
                fmt::format("nothing uses the masks in {}", name),
                fmt::format(
                    "add them to the step: srun --cpu-bind=${} (with mask_cpu: before them), or remove them",
                    name)});
  return hits;
}

} // namespace launch_mask_unused

Rule rule_launch_mask_unused() {
  using namespace launch_mask_unused;
  return {
      .id = "launch/mask-unused",
      .severity = diag::Severity::warning,
      .title = "Unused masks",
      .why = "A list of CPU masks does nothing until srun gets it: without --cpu-bind each rank runs on the "
             "CPUs that Slurm chooses, far from its GPU, while the script looks as if it were bound.",
      .link = "https://docs.lumi-supercomputer.eu/runjobs/scheduled-jobs/distribution-binding/",
      .bad = {R"(#!/bin/bash
#SBATCH -N1 -n2
CPU_BIND="mask_cpu:0xfe,0xfe00"
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1 -n2
CPU_BIND="mask_cpu:0xfe,0xfe00"
srun --cpu-bind=$CPU_BIND python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
