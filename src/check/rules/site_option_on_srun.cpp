// SPDX-License-Identifier: MIT
// Options that the site takes from srun only.
#include "check/site_rule.hpp"
#include "slurm/options.hpp"

namespace hpcml::check {
namespace site_option_on_srun {

/// The word of the directives with an option that is not Slurm's own; length 0 where there is none.
slurm::Place plugin_word(const Subject& subject, const std::string& name) {
  const std::string word = "--" + name;
  for (const auto& directive : subject.header.directives)
    for (const auto& one : directive.words)
      if (one.text == word || one.text.substr(0, word.size() + 1) == word + "=") return one.place;
  return {};
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    // What holds for the partitions of the profile need not hold for another one.
    if (!part.fit.named.empty() && part.fit.partitions.empty()) continue;
    for (const auto& [name, any] : part.site.flags) {
      const auto& rule = part.flag(name);
      if (rule.policy != model::Policy::srun_only) continue;
      const bool own = slurm::is_option(slurm::Program::sbatch, name);
      const auto place = own ? part.place({name}) : plugin_word(subject, name);
      if (place.length == 0) continue;
      Hit hit{place,
              part.site.name + " wants --" + name + " on the srun line, not in a directive" +
                  (rule.why.empty() ? "" : ": " + rule.why),
              with_source("write it behind srun", rule.origin)};
      // What sbatch refuses of its own options is written so; a plugin may take its option with a word of
      // warning.
      if (!own) hit.severity = diag::Severity::warning;
      hits.push_back(std::move(hit));
    }
  }
  return hits;
}

} // namespace site_option_on_srun

Rule rule_site_option_on_srun() {
  using namespace site_option_on_srun;
  return {
      "site/option-on-srun",
      diag::Severity::error,
      "An option that belongs on the srun line",
      "Some options may be given to a step only: in a directive they make the site reject the job, or set up "
      "the wrong thing.",
      "https://slurm.schedmd.com/srun.html",
      {{"#!/bin/bash\n#SBATCH --account=x\n#SBATCH -p gpu\n#SBATCH --qos=gpu-shd\n#SBATCH --gpus=1\n#SBATCH "
        "-t 10\n#SBATCH --ntasks=1\nsrun true\n",
        "archer2_gpu"},
       {"#!/bin/bash\n#SBATCH --account=x\n#SBATCH -p gpu\n#SBATCH --qos=gpu-shd\n#SBATCH --gpus=2\n#SBATCH "
        "-t 10\n#SBATCH --cpus-per-task=8\nsrun true\n",
        "archer2_gpu"},
       {"#!/bin/bash\n#SBATCH --account=g1\n#SBATCH -N1\n#SBATCH -t 10\n#SBATCH --environment=pytorch\nsrun "
        "true\n",
        "alps_clariden"}},
      {{"#!/bin/bash\n#SBATCH --account=x\n#SBATCH -p gpu\n#SBATCH --qos=gpu-shd\n#SBATCH --gpus=1\n#SBATCH "
        "-t 10\nsrun --ntasks=1 --cpus-per-task=8 true\n",
        "archer2_gpu"},
       {"#!/bin/bash\n#SBATCH --account=g1\n#SBATCH -N1\n#SBATCH -t 10\nsrun --environment=pytorch true\n",
        "alps_clariden"},
       {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=1\n#SBATCH -n1\nsrun true\n",
        "lumi"}},
      find};
}

} // namespace hpcml::check
