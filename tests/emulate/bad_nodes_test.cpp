// SPDX-License-Identifier: MIT
// Nodes that were found bad, on a real Slurm: a job's next start leaves them out, by its own exclude list or,
// where that may not change, by another job that goes on for it.
#include <catch2/catch.hpp>

#include <unistd.h>

#include "emulate/cluster_helper.hpp"
#include "shared_directory.hpp"
#include "skip.hpp"

using namespace hpcml;
using Catch::Contains;
using test::Cluster;

namespace {

/// Kills its own agent where the words say so: RANK and TASK, in the job's first start, once all ranks have
/// begun.
constexpr const char* k_program = R"(
import os, signal, sys, time
restart, rank, task = int(os.environ["HPCML_RESTART_COUNT"]), os.environ["RANK"], os.environ.get("SLURM_ARRAY_TASK_ID", "0")
print("begin", rank, "restart", restart, "on", os.environ["SLURMD_NODENAME"], flush=True)
if restart == 0 and task == sys.argv[2]:
    open("began-" + rank, "w").close()
    while not all(os.path.exists("began-%d" % other) for other in range(int(os.environ["WORLD_SIZE"]))): time.sleep(0.05)
    if rank == sys.argv[1]: os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(300)
print("done", rank, os.environ.get("HPCML_CHECKPOINT_DIR", ""), flush=True)
)";

constexpr const char* k_shell = R"(
over() { for i in {1..1800}; do squeue -h 2> /dev/null | grep -q . || return; sleep 0.1; done; echo "jobs do not end"; }
told() { scontrol -o show job "$1" | grep -o 'JobState=[A-Z]*\|Restarts=[0-9]*\|ExcNodeList=[^ ]*\| NodeList=[^ ]*' | xargs; }
)";

void generate(const Cluster& cluster, const std::vector<std::string>& flags,
              const std::vector<std::string>& words) {
  std::vector<std::string> all = {"--site", "generic",   "--gpus-per-node", "0",    "--time",
                                  "10",     "--requeue", "--requeue-on",    "node", "--log-dir",
                                  "logs",   "--output",  "job.out",         "-o",   "job.sh"};
  all.insert(all.end(), flags.begin(), flags.end());
  cluster.generate_training(all, words);
}

} // namespace

TEST_CASE("a node whose agent dies is named with the reason, and the job's next start leaves it out beside "
          "those that "
          "its user left out",
          "[slurm][alone]") {
  if (::geteuid() != 0) return test::skip("only root can hide the GPUs of an emulated node");
  const Cluster cluster({"--site", "generic", "--nodes", "4", "--quiet", "--fault", "slurmctld-restart@9h"});
  cluster.write("train.py", k_program);
  generate(cluster, {"--nodes", "2", "--sbatch=--exclude=node001"}, {"1", "0"});
  const auto ran = cluster.run(std::string(k_shell) + "sbatch -Q job.sh; over; told 1");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK(ran.out == "JobState=COMPLETED Restarts=1 ExcNodeList=node[001,003] NodeList=node[002,004]\n");
  CHECK_THAT(output, Contains("hpcml: node node003 is excluded from the next start: its agent was lost\n") &&
                         Contains("hpcml: the run failed (node): requeuing job 1, which starts again "
                                  "(restart 1 of at most 3)\n") &&
                         Contains("done 0") && Contains("done 1"));
  CHECK(cluster.read("logs/bad-nodes-1") == "node003 its agent was lost\n");
}

TEST_CASE("a user without any rights in Slurm changes the exclude list of a job of theirs that waits",
          "[.faults]") {
  if (::geteuid() != 0) return test::skip("only root can become another user");
  const Cluster cluster({"--site", "generic", "--nodes", "3", "--quiet", "--fault", "slurmctld-restart@9h"});
  cluster.write("train.py", k_program);
  generate(cluster, {"--nodes", "2"}, {"1", "0"});
  const auto ran = cluster.run(std::string(k_shell) + R"sh(
chown -R nobody .; as() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
as sbatch -Q job.sh; hold=$(as sbatch --parsable --hold -o /dev/null --wrap true)
as scontrol update jobid=$hold ExcNodeList=node001; told $hold; as scancel $hold
as scontrol update nodename=node001 state=drain reason=none 2>&1
root=$(sbatch --parsable --hold -o /dev/null --wrap true)
as scontrol update jobid=$root ExcNodeList=node001 2>&1; scancel $root
over; told 1; scontrol -o show job 1 | grep -o 'UserId=[a-z]*'
)sh");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK(ran.out == "JobState=PENDING Restarts=0 ExcNodeList=node001 NodeList=\n"
                   "slurm_update error: Invalid user id\n"
                   "Invalid user id for job 3\n"
                   "JobState=COMPLETED Restarts=1 ExcNodeList=node002 NodeList=node[001,003]\n"
                   "UserId=nobody\n");
  CHECK_THAT(output, Contains("hpcml: node node002 is excluded from the next start: its agent was lost\n") &&
                         Contains("done 1") && !Contains("cannot change the exclude list"));
}

TEST_CASE("where the exclude list may not change another job goes on for the one task of the array, in its "
          "folder and "
          "within its bound",
          "[.faults]") {
  const test::SharedDirectory directory;
  const Cluster cluster({"--site", "generic", "--nodes", "6", "--quiet", "--fault", "slurmctld-restart@9h"});
  cluster.write("train.py", k_program);
  generate(cluster, {"--nodes", "2", "--array", "3-4", "--checkpoint-dir", directory.path()}, {"1", "4"});
  const auto ran = cluster.run(std::string(k_shell) + R"sh(
rules=$(dirname "$SLURM_CONF")/job_submit.lua
sed -i '/slurm_job_modify/{n;s/SUCCESS/ERROR/}' "$rules"; touch -d '1 minute' "$rules" # read anew where it is newer
sbatch -Q job.sh; over; { told 1_3; told 1_4; told 3_4; } | sed 's/ NodeList.*//'; squeue -h; scontrol -o show job 4 2>&1
)sh");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK(ran.out == "JobState=COMPLETED Restarts=0 ExcNodeList=(null)\n"
                   "JobState=CANCELLED Restarts=1 ExcNodeList=(null)\n"
                   "JobState=COMPLETED Restarts=0 ExcNodeList=node004\n"
                   "slurm_load_jobs error: Invalid job id specified\n");
  CHECK_THAT(output, Contains("cannot change the exclude list of job 1_4; "
                              "submitted job 3_4 as its replacement\n") &&
                         Contains("begin 1 restart 1 on ") &&
                         Contains("done 1 " + directory.path() + "/1_4\n"));
}

TEST_CASE("after the loss of a node that Slurm requeues the job for by itself, it runs on healthy ones",
          "[.faults]") {
  const test::SharedDirectory directory;
  const Cluster cluster({"--site", "generic", "--nodes", "3", "--quiet", "--fault", "node-down:2@3s"});
  cluster.write("train.py", k_program);
  generate(cluster, {"--nodes", "2", "--checkpoint-dir", directory.path()}, {"none", "0"});
  const auto ran = cluster.run(std::string(k_shell) + "sbatch -Q job.sh; over; told 1");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK_THAT(ran.out, Contains("JobState=COMPLETED") && Contains(" NodeList=node[001,003]"));
  CHECK_THAT(output, Contains("on node003") && Contains("done 1"));
}

TEST_CASE("of a job with spare nodes the healthy ones run, not the one whose GPUs are gone, and after the "
          "loss of another the "
          "program goes on in the same job",
          "[slurm][alone]") {
  const Cluster cluster({"--site", "generic", "--nodes", "4", "--gpus-per-node", "2", "--quiet"});
  cluster.write("train.py", k_program);
  const auto made = cluster.generate({"--site",
                                      "generic",
                                      "--gpus-per-node",
                                      "2",
                                      "--tasks-per-node",
                                      "1",
                                      "--nodes",
                                      "2",
                                      "--spare-nodes",
                                      "2",
                                      "--time",
                                      "10",
                                      "--requeue",
                                      "--requeue-on",
                                      "node",
                                      "--log-dir",
                                      "logs",
                                      "--output",
                                      "job.out",
                                      "-o",
                                      "job.sh",
                                      "--",
                                      "python3",
                                      "train.py",
                                      "1",
                                      "0"});
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const auto ran = cluster.run(std::string(k_shell) + R"sh(
srun -t 5 -w node001 mount -t tmpfs none /proc/driver/nvidia/gpus
sbatch -Q job.sh; over; told 2
)sh");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK(ran.out == "JobState=COMPLETED Restarts=0 ExcNodeList=(null) NodeList=node[001-004]\n");
  CHECK_THAT(
      output,
      Contains("hpcml: warning: node001 is not used, because it is faulty: its driver shows 0 of 2 GPUs\n") &&
          Contains("hpcml: the program runs on node[002-003] (spare nodes: node004)\n") &&
          Contains("hpcml: the program runs on node[002,004] (spare nodes: none)\n") &&
          Contains("restarting it on healthy nodes of this job (restart 1 of at most 3)\n") &&
          Contains("begin 1 restart 1 on node004\n") && Contains("done 1"));
  CHECK_THAT(cluster.read("logs/bad-nodes-2"),
             Contains("node001 its driver shows") && Contains("node003 its agent was lost\n"));
}

TEST_CASE("a node of a job that does not answer takes no part", "[.faults]") {
  const Cluster cluster({"--site", "generic", "--nodes", "3", "--quiet"});
  cluster.write("train.py", k_program);
  generate(cluster, {"--nodes", "2", "--spare-nodes", "1"}, {"none", "none"});
  const auto ran = cluster.run(std::string(k_shell) + R"sh(
pkill -STOP -f '[s]lurmd -D -N node002'; sbatch -Q job.sh
for i in {1..1800}; do grep -qs "done 1" job.out && break; sleep 0.1; done
pkill -CONT -f '[s]lurmd -D -N node002'; over; told 1
)sh");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK(ran.out == "JobState=COMPLETED Restarts=0 ExcNodeList=(null) NodeList=node[001-003]\n");
  CHECK_THAT(output,
             Contains("hpcml: warning: node002 is not used, because it is faulty: it did not answer\n") &&
                 Contains("runs on node[001,003]") && Contains("begin 1 restart 0 on node003\n"));
}

TEST_CASE(
    "after the loss of a node a job with a spare one goes on by itself, though Slurm has not heard of the "
    "step's end there",
    "[.faults]") {
  const Cluster cluster({"--site", "generic", "--nodes", "3", "--quiet", "--fault", "node-down:2@12s"});
  cluster.write("train.py", k_program);
  generate(cluster, {"--nodes", "2", "--spare-nodes", "1", "--max-requeues", "1"}, {"none", "0"});
  const auto ran = cluster.run(std::string(k_shell) + "sbatch -Q job.sh; over; told 1");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK_THAT(ran.out, Contains("JobState=COMPLETED Restarts=0"));
  CHECK_THAT(output, Contains("the program runs on node[001-002] (spare nodes: node003)\n") &&
                         Contains("restarting it on healthy nodes of this job (restart 1 of at most 1)\n") &&
                         Contains("begin 1 restart 1 on node003\n") && Contains("done 1"));
}
