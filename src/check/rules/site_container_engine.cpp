// SPDX-License-Identifier: MIT
// Container engines that the site does not have.
#include <algorithm>
#include <array>

#include "check/site_rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_container_engine {

/// Programs of one family are there under each other's name.
std::string family(const std::string& engine) { return engine == "singularity" ? "apptainer" : engine; }
constexpr std::array<std::string_view, 6> k_engines = {"singularity", "apptainer", "shifter",
                                                       "docker",      "podman",    "sarus"};

Hits find(const Subject& subject) {
  Hits hits;
  if (!subject.site || subject.site->containers.empty()) return hits;
  std::vector<std::string> names;
  for (const auto& rule : subject.site->containers)
    if (const auto name = model::word_of(rule.engine);
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  for (const auto& launch : subject.launches) {
    const auto& link = launch.last();
    const auto found = std::find_if(launch.chain.begin(), launch.chain.end(), [](const Link& one) {
      return std::find(k_engines.begin(), k_engines.end(), one.program) != k_engines.end();
    });
    const auto* engine = found == launch.chain.end() ? &link : &*found;
    if (found == launch.chain.end() || std::any_of(names.begin(), names.end(), [&](const auto& name) {
          return family(name) == family(engine->program);
        }))
      continue;
    const auto place = engine->place;
    if (!hits.empty() && hits.back().place.offset == place.offset) continue;
    hits.push_back({place, "the profile of " + subject.site->name + " has no " + engine->program,
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
