// SPDX-License-Identifier: MIT
// Emulated nodes whose tasks may open their own GPUs alone, by the kernel's own word.
#include <catch2/catch.hpp>
#include <filesystem>
#include <unistd.h>

#include "emulate/cluster_helper.hpp"
#include "emulate/job_cgroups.hpp"
#include "holds.hpp"
#include "skip.hpp"

using namespace hpcml;
using Catch::Contains;
using test::Cluster;

TEST_CASE("where devices are limited, tasks open their own GPUs, count them from 0, and launch knows which "
          "they are",
          "[slurm][devices][alone]") {
  const auto groups = emulate::make_job_groups({false, true});
  if (!groups) {
    test::skip(groups.error().what);
    CHECK((::geteuid() != 0 || test::holds(groups.error().what, "group")));
    return;
  }
  emulate::remove_job_groups(*groups);
  const Cluster cluster({"--site", "lumi", "--quiet", "--limit-devices"});
  cluster.write("tasks.sh", R"(#!/bin/bash
#SBATCH -p small-g -A project_1 -t 5 --ntasks=2 --gpus-per-task=1 --cpus-per-task=7 --mem=1G -o %j.out
touch begun-$SLURM_JOB_ID
until [[ -e begun-1 && -e begun-2 ]]; do sleep 0.1; done
srun -l bash -c 'for gpu in '"${SLURM_CONF%/*}"'/dev/gpu?; do (LC_ALL=C; exec 2>&1 3< $gpu) | grep -q "No such device" && echo opens ${gpu##*/} sees $ROCR_VISIBLE_DEVICES; done; rocm-smi'
srun -l -c7 hpcml launch --site lumi --bind apply --cpus-per-task 7 --gpus-per-task 1 -- true
echo done
)");
  const auto result =
      cluster.run("sbatch tasks.sh; sbatch -W tasks.sh; until grep -q done 1.out; do sleep 0.1; done");
  const auto first = cluster.read("1.out"), second = cluster.read("2.out");
  INFO(result.err << first << second);
  if (test::holds(result.err,
                  "cannot limit the devices of jobs")) // nor made, in a container with few rights
    return test::skip(std::string(util::trim(result.err)));
  // ROCR_VISIBLE_DEVICES is Slurm's, who counts what the task may open.
  CHECK_THAT(first, Contains("0: opens gpu0 sees 0\n") && Contains("1: opens gpu1 sees 0\n"));
  CHECK_THAT(second, Contains("0: opens gpu2 sees 0\n") && Contains("1: opens gpu3 sees 0\n"));
  for (const auto& output : {first, second})
    CHECK_THAT(output, Contains("0: GPU 0: AMD MI250X (GCD) (emulated)\n") && !Contains("GPU 1"));
  // What it plans with is near the GPUs that the job has: 0 and 1 at NUMA node 3, 2 and 3 at NUMA node 1.
  CHECK_THAT(first, Contains("rank 1: GPU not local to cores") && Contains("of NUMA 3; use fewer cores"));
  CHECK_THAT(second, Contains("rank 1: GPU not local to cores") && Contains("of NUMA 1; use fewer cores"));
  CHECK_FALSE(std::filesystem::exists(groups->devices));
}
