// SPDX-License-Identifier: MIT
#include "cli/quick_help.hpp"

#include <cstdio>

#include "hpcml/exit_code.hpp"

namespace hpcml::cli {

namespace {

const char* const k_first_steps =
    R"(hpcml writes, checks, rehearses and runs training jobs on Slurm clusters. Five things to begin with:

1. Write the batch script of a training program for a cluster ("hpcml sites list" names them):
     hpcml gen --site lumi --nodes 2 --account project_1 --time 1h -o job.sh -- python train.py
2. Find out what is wrong with a batch script, without the cluster:
     hpcml check --site lumi job.sh
3. Rehearse the script on this machine: a real Slurm, shaped like the cluster:
     hpcml emulate --site lumi --nodes 2 -- sbatch -W job.sh
4. Submit a job, there, and follow it to its end:
     hpcml submit --site lumi --nodes 2 --account project_1 --time 1h --watch -- python train.py
5. Start the ranks of a training on one machine, without Slurm:
     hpcml launch --nproc-per-node 2 train.py

All commands: hpcml --help. One of them: hpcml gen --help, or hpcml man gen.
The shell completes all of them after: source <(hpcml completion bash), or zsh, or fish.
)";

} // namespace

int print_first_steps() {
  std::fputs(k_first_steps, stdout);
  return k_ok;
}

} // namespace hpcml::cli
