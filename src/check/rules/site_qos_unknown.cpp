// SPDX-License-Identifier: MIT
// QoS that the site does not have.

#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_qos_unknown {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/qos-unknown")) {
      std::vector<std::string> names;
      for (const auto& qos : part.site.qos) names.push_back(qos.name);
      Hit hit{part.place({"qos"}), "the profile of " + part.site.name + " has no QoS '" + verdict.name + "'",
              known_names(verdict.name, names)};
      if (const auto meant = slip_of(verdict.name, names))
        hit.fix = replace_in(subject, hit.place, verdict.name, *meant);
      hits.push_back(std::move(hit));
    }
  return hits;
}

} // namespace site_qos_unknown

Rule rule_site_qos_unknown() {
  using namespace site_qos_unknown;
  return {"site/qos-unknown",
          diag::Severity::warning,
          "A QoS that the site does not have",
          "sbatch refuses a job for a quality of service that does not exist, or that the account may not "
          "use: invalid qos specification.",
          "https://slurm.schedmd.com/qos.html",
          {{"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p boost_usr_prod\n#SBATCH "
            "--qos=boost_qos_dgb\n#SBATCH --gres=gpu:4\nsrun true\n",
            "leonardo"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p gpu\n#SBATCH --qos=gpu-share\n#SBATCH "
            "--gpus=1\nsrun true\n",
            "archer2_gpu"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -C gpu\n#SBATCH -t 10\n#SBATCH -q regulr\n#SBATCH "
            "--gpus-per-node=4\nsrun true\n",
            "perlmutter"}},
          {{"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p boost_usr_prod\n#SBATCH "
            "--qos=boost_qos_dbg\n#SBATCH --gres=gpu:4\nsrun true\n",
            "leonardo"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p gpu\n#SBATCH --qos=gpu-shd\n#SBATCH "
            "--gpus=1\nsrun true\n",
            "archer2_gpu"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --qos=special\n#SBATCH --gpus-per-node=1\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -A p200000 -p gpu -q dev -t 10\n#SBATCH --gpus-per-node=4\nsrun true\n",
            "meluxina"},
           {"#!/bin/bash\n#SBATCH -p gpu\n#SBATCH -t 10\n#SBATCH --qos=normal\n#SBATCH --gpus=1\nsrun true\n",
            "sherlock"}},
          find,
          nullptr,
          k_likely_refusal};
}

} // namespace hpcml::check
