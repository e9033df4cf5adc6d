// SPDX-License-Identifier: MIT
// Container engines that the site does not have.
#include <algorithm>

#include "check/site_rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_container_engine {

/// Whether the site has the engine, also under another name of its family.
bool has_engine(const model::Site& site, const model::EngineRow& engine) {
  return std::any_of(site.containers.begin(), site.containers.end(), [&](const auto& rule) {
    const auto& own = model::row_of(rule.engine);
    return own.name == engine.name || (!engine.family.empty() && own.family == engine.family);
  });
}

Hits find(const Subject& subject) {
  Hits hits;
  if (!subject.site || subject.site->containers.empty()) return hits;
  std::vector<std::string> names;
  for (const auto& rule : subject.site->containers)
    if (const auto name = model::word_of(rule.engine);
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  for (const auto& launch : subject.launches) {
    const auto found = std::find_if(launch.chain.begin(), launch.chain.end(), [](const Link& one) {
      const auto* engine = model::find_engine_program(one.program);
      return engine && engine->of_sites;
    });
    if (found == launch.chain.end() || has_engine(*subject.site, *model::find_engine_program(found->program)))
      continue;
    const auto place = found->place;
    if (!hits.empty() && hits.back().place.offset == place.offset) continue;
    hits.push_back({place, "the profile of " + subject.site->name + " has no " + found->program,
                    with_source("containers run with " + util::join(names, ", "),
                                subject.site->containers.front().origin)});
  }
  return hits;
}

} // namespace site_container_engine

Rule rule_site_container_engine() {
  using namespace site_container_engine;
  return {"site/container-engine",
          diag::Severity::warning,
          "A container engine that the site does not have",
          "A program that is not on the nodes ends the job at its first line; docker needs rights that no "
          "user of a cluster has.",
          "https://apptainer.org/docs/user/main/quick_start.html",
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --gpus-per-node=1\nsrun docker run pytorch/pytorch python train.py\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -A g1\n#SBATCH -N1\n#SBATCH -t 10\n#SBATCH -p normal\nsrun singularity "
            "exec --nv a.sif python train.py\n",
            "alps_clariden"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -C gpu\n#SBATCH -q regular\n#SBATCH -t 10\n#SBATCH "
            "--gpus-per-node=4\nsrun apptainer exec a.sif python train.py\n",
            "perlmutter"}},
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --gpus-per-node=1\nsrun singularity exec a.sif python train.py\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -p gh\n#SBATCH -N1\n#SBATCH -n1\n#SBATCH -t 10\nibrun singularity exec "
            "a.sif python train.py\n",
            "vista"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -C gpu\n#SBATCH -q regular\n#SBATCH -t 10\n#SBATCH "
            "--gpus-per-node=4\nsrun shifter --image=a python train.py\n",
            "perlmutter"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -C gpu\n#SBATCH -q regular\n#SBATCH -t 10\n#SBATCH "
            "--gpus-per-node=4\nsrun podman-hpc run --rm a python train.py\n",
            "perlmutter"}},
          find};
}

} // namespace hpcml::check
