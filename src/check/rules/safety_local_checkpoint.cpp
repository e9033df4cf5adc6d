// SPDX-License-Identifier: MIT
// Checkpoints in a directory that each node has for itself and loses.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/node_local_path.hpp"

namespace hpcml::check {
namespace safety_local_checkpoint {

constexpr std::array<std::string_view, 14> k_options = {
    "--output_dir",      "--output-dir",       "--save",
    "--save_dir",        "--save-dir",         "--checkpoint_dir",
    "--checkpoint-dir",  "--ckpt_dir",         "--ckpt-dir",
    "--checkpoint",      "--default_root_dir", "--checkpoint_path",
    "--checkpoint-path", "--save_path"};

/// Whether something is copied from there before the job ends.
bool is_saved(const LintContext& subject) {
  return std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
    const auto& name = launch.last().program;
    return name == "cp" || name == "rsync" || name == "mv" || name == "tar" || name == "sgather";
  });
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!subject.several_nodes().value_or(false)) return hits;
  for (const auto& launch : subject.launches) {
    const auto& words = launch.command->words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].pieces.empty() || !words[i].pieces.front().text.starts_with("--")) continue;
      const auto text = words[i].text();
      const auto equals = text.find('=');
      const auto name = text.substr(0, equals);
      if (std::find(k_options.begin(), k_options.end(), name) == k_options.end() ||
          (equals == std::string::npos && i + 1 >= words.size()))
        continue;
      const auto path = equals == std::string::npos ? words[i + 1].text() : text.substr(equals + 1);
      if (!util::is_node_local(path) || is_saved(subject)) continue;
      const auto& last = equals == std::string::npos ? words[i + 1] : words[i];
      hits.push_back(
          {last.place,
           fmt::format("{} is a different directory on each node and is removed after the job", path),
           "use a directory on a file system that all nodes share for checkpoints"});
    }
  }
  return hits;
}

} // namespace safety_local_checkpoint

Rule rule_safety_local_checkpoint() {
  using namespace safety_local_checkpoint;
  return {
      .id = "safety/local-checkpoint",
      .severity = diag::Severity::warning,
      .title = "Checkpoint in a node's own directory",
      .why = "/tmp, /dev/shm and $SLURM_TMPDIR belong to one node and are emptied when the job ends. In a "
             "job of "
             "several nodes each one writes a part that the others cannot read, and none is left to resume "
             "from.",
      .link = "https://docs.alliancecan.ca/wiki/Using_node-local_storage",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2
srun python train.py --output_dir /tmp/ckpt
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1
srun python train.py --output_dir /tmp/ckpt
)"},
      .find = find,
  };
}

} // namespace hpcml::check
