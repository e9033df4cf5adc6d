// SPDX-License-Identifier: MIT
// ssh between emulated nodes, and what tools do over it: it leads where the user's job is, and nowhere else.
#include <catch2/catch.hpp>

#include "emulate/cluster_helper.hpp"
#include "holds.hpp"
#include "skip.hpp"

using namespace hpcml;
using test::Cluster;
using test::holds;

TEST_CASE("ssh reaches the nodes of the user's job, with a clean environment, and no others", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--nodes", "3", "--record", "calls.jsonl"});
  lumi.write("over_ssh.sh", R"(#!/bin/bash
#SBATCH --account=project_1 --partition=standard-g --nodes=2 --time=5 --output=job.out
export MINE=here
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
ssh -o BatchMode=yes -oStrictHostKeyChecking=no "${nodes[1]}" 'echo on $(hostname) mine=$MINE rank=$SLURM_PROCID at=$PWD | cat'
echo given | ssh "$USER@${nodes[1]}" cat
echo lost | ssh -n "${nodes[1]}" cat
ssh "${nodes[1]}" exit 7
echo code $?
ssh nid000003 true
echo code $?
ssh example.org true
echo code $?
)");
  const auto result = lumi.run("sbatch -W over_ssh.sh; cat job.out; ssh nid000001 hostname; echo code $?");
  INFO(result.err << result.out);
  CHECK(holds(result.out, "on nid000002 mine= rank= at="));
  CHECK(holds(result.out, "\ngiven\n"));
  CHECK(holds(result.out, "\ncode 7\n"));
  CHECK_FALSE(holds(result.out, "lost"));
  CHECK_FALSE(holds(result.out, "srun: "));
  CHECK(holds(result.out, "you have no active jobs on nid000003\ncode 255\n"));
  CHECK(holds(result.out, "it is no node of this rehearsal, which reaches nothing else\ncode 255\n"));
  CHECK(holds(result.err, "you have no active jobs on nid000001"));
  CHECK(holds(lumi.read("calls.jsonl"), "\"tool\":\"ssh\",\"ok\":true"));
}

TEST_CASE("ranks of MPI meet by srun --mpi=pmix and have their places by --mpi=pmi2", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--nodes", "2"});
  lumi.write("ranks.py", "from mpi4py import MPI\nworld = MPI.COMM_WORLD\n"
                         "print('rank', world.rank, 'of', world.allreduce(1), flush=True)\n");
  const auto result = lumi.run(
      "options='-A project_1 -p standard-g -t 5 -N2 --ntasks-per-node=2'; srun $options --mpi=pmi2 "
      "bash -c 'echo pmi2 $PMI_RANK of $PMI_SIZE ${PMI_FD:+can ask}'; if srun --mpi=list 2>&1 | grep "
      "-q pmix; then srun $options --mpi=pmix /usr/bin/python3 ranks.py; else echo no pmix; fi");
  INFO(result.err << result.out);
  const bool with_pmix = !holds(result.out, "no pmix");
  for (unsigned rank = 0; rank < 4; ++rank) {
    CHECK(holds(result.out, "pmi2 " + std::to_string(rank) + " of 4 can ask\n"));
    if (with_pmix) CHECK(holds(result.out, "rank " + std::to_string(rank) + " of 4\n"));
  }
  if (!with_pmix) test::skip_missing("libpmix-dev");
}
