// SPDX-License-Identifier: MIT
// Faults on emulated clusters: what Slurm and jobs make of them.
#include <catch2/catch.hpp>

#include "emulate/cluster_helper.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using Catch::Contains;
using test::Cluster;

TEST_CASE("a job outlives a cut of its node's links and a restart of slurmctld", "[slurm][alone]") {
  const Cluster cluster({"--site", "generic", "--nodes", "3", "--quiet", "--fault", "link-cut:2@1s..3s",
                         "--fault", "slurmctld-restart@2s", "--fault", "link-cut:3@9h", "--fault",
                         "slow-link:1:1000x"});
  const auto result = cluster.run(
      "booted() { scontrol show config | grep BOOT_TIME; }; before=$(booted); "
      "srun -t 5 -w node002 bash -c 'name=$(ls /sys/class/net | grep -v ^lo); "
      "carrier() { for i in {1..600}; do [ $(cat /sys/class/net/$name/carrier) != $1 ] || return 0; "
      "sleep 0.1; done; return 1; }; carrier 0 && echo cut; carrier 1 && echo whole'; "
      "echo code $?; srun -t 5 -w node001 bash -c 'tc qdisc show dev $(ls /sys/class/net | grep -v ^lo) | "
      "grep -o [0-9]*Mbit'; "
      "for i in {1..600}; do now=$(booted) && [ \"$now\" != \"$before\" ] && break; sleep 0.1; done; "
      "[ \"$now\" != \"$before\" ] && echo restarted");
  INFO(result.err);
  CHECK(result.out == "cut\nwhole\ncode 0\n10Mbit\nrestarted\n");
  CHECK_THAT(
      result.err,
      Contains("fault: node002: links cut (") && Contains("fault: node002: links restored (") &&
          Contains("fault: slurmctld restarted (") &&
          Contains("hpcml emulate: fault: --fault link-cut:3@9h was not injected: the command ended "));
}

TEST_CASE("a job whose nodes another takes is requeued, or cancelled", "[.faults]") {
  for (const std::string way : {"", ":cancel"}) {
    const Cluster cluster(
        {"--site", "lumi", "--nodes", "2", "--quiet", "--fault", "preempt" + way + "@1s..15s"});
    cluster.write(
        "job.sh",
        "#!/bin/bash\n"
        "#SBATCH --account=project_1 --partition=standard-g --nodes=2 --ntasks-per-node=1 --time=5\n"
        "#SBATCH --requeue --open-mode=append --output=job.out\n"
        "echo \"start ${SLURM_RESTART_COUNT:-0}\"\n"
        "[ -n \"$SLURM_RESTART_COUNT\" ] || srun sleep 300\n");
    const auto result = cluster.run("sbatch --parsable job.sh; for i in {1..1500}; do sleep 0.2; "
                                    "[ -n \"$(squeue -h -n job.sh)\" ] || break; done; "
                                    "scontrol show job 1 | grep -o 'JobState=[A-Z]*'");
    const auto output = cluster.read("job.out");
    INFO(result.err << result.out << output);
    CHECK_THAT(output, Contains("start 0\n") && Contains("DUE TO PREEMPTION"));
    CHECK((output.find("\nstart 1\n") != std::string::npos) == way.empty());
    CHECK(result.out == std::string("1\nJobState=") + (way.empty() ? "COMPLETED" : "PREEMPTED") + "\n");
    CHECK_THAT(result.err, Contains("takes all nodes: running jobs are "));
  }
}

TEST_CASE("where QoS decide, jobs of the site's preemptible QoS are requeued, or cancelled after their grace",
          "[.faults]") {
  for (const std::string way : {"qos", "qos-cancel:6s"}) {
    const Cluster cluster({"--site", "ulhpc_iris", "--partition", "gpu", "--nodes", "2", "--quiet", "--fault",
                           "preempt:" + way + "@1s..25s"});
    cluster.write("job.sh",
                  "#!/bin/bash\n"
                  "#SBATCH --qos=besteffort --partition=gpu --nodes=2 --ntasks-per-node=1 --time=5\n"
                  "#SBATCH --gpus-per-node=4 --requeue --open-mode=append --output=job.out\n"
                  "echo \"start ${SLURM_RESTART_COUNT:-0}\"\n"
                  "[ -n \"$SLURM_RESTART_COUNT\" ] || srun sleep 300\n"
                  "[ -n \"$SLURM_RESTART_COUNT\" ] || sleep 300\n"); // a grace ends the step alone
    const auto result = cluster.run(
        "scontrol show config | grep -o 'preempt/[a-z]*'; sacctmgr -nP show qos besteffort format=gracetime; "
        "sbatch --parsable job.sh; for i in {1..1500}; do sleep 0.2; [ -n \"$(squeue -h -n job.sh)\" ] || "
        "break; "
        "done; scontrol -o show job 1 | grep -o 'JobState=[A-Z]*\\|QOS=[a-z]*' | xargs");
    const auto output = cluster.read("job.out");
    INFO(result.err << result.out << output);
    CHECK_THAT(output, Contains("start 0\n") && Contains("DUE TO PREEMPTION"));
    CHECK((output.find("\nstart 1\n") != std::string::npos) == (way == "qos"));
    CHECK(result.out == "preempt/qos\n00:00:0" + std::string(way == "qos" ? "0" : "6") +
                            "\n1\nQOS=besteffort JobState=" + (way == "qos" ? "COMPLETED\n" : "PREEMPTED\n"));
    CHECK_THAT(result.err, Contains("takes all nodes: running jobs with QoS besteffort are "));
  }
}

TEST_CASE("where QoS decide, a job of another QoS than the site's preemptible one keeps its nodes",
          "[.faults]") {
  const Cluster cluster(
      {"--site", "ulhpc_iris", "--partition", "gpu", "--quiet", "--fault", "preempt:qos@1s..8s"});
  const auto result =
      cluster.run("sbatch -W --parsable -p gpu -N1 -G4 -t 5 --requeue -o job.out --wrap 'sleep 12'; "
                  "scontrol -o show job 1 | grep -o 'JobState=[A-Z]*\\|Restarts=[0-9]*' | xargs");
  INFO(result.err);
  CHECK(result.out == "1\nJobState=COMPLETED Restarts=0\n");
  CHECK_THAT(result.err,
             Contains("(state: PENDING)") && Contains("only jobs with QoS besteffort are preempted"));
}

TEST_CASE("a job whose nodes another takes is suspended, and goes on", "[.faults]") {
  const std::string way = GENERATE("suspend", "qos-suspend");
  const Cluster cluster(
      {"--site", "lumi", "--nodes", "2", "--quiet", "--fault", "preempt:" + way + "@1s..8s"});
  const auto result = cluster.run(
      "sbatch --parsable -A project_1 -p standard-g -N2 -t 5 -o job.out --wrap 'until [ -e done ]; do sleep "
      "0.1; "
      "done; echo ended'; state() { scontrol show job 1 | grep -o 'JobState=[A-Z]*'; }; "
      "until_is() { for i in {1..600}; do [ \"$(state)\" != JobState=$1 ] || break; sleep 0.1; done; state; "
      "}; "
      "until_is RUNNING; until_is SUSPENDED; until_is RUNNING; touch done; until_is COMPLETED; cat job.out");
  INFO(result.err);
  CHECK(result.out ==
        "1\nJobState=RUNNING\nJobState=SUSPENDED\nJobState=RUNNING\nJobState=COMPLETED\nended\n");
  CHECK_THAT(result.err, Contains("takes all nodes: running jobs ") && Contains(" are suspended ("));
}

TEST_CASE("of a node that is down no process is left", "[.faults]") {
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--quiet", "--fault", "node-down:2@3s"});
  // A task, one that left its session and its parent, and the daemon itself.
  const auto result = cluster.run(
      "srun -t 5 -w node002 bash -c '(setsid sleep 98766 > /dev/null 2>&1 &); sleep 98765' & "
      "count() { pgrep -x -f \"$1\" | wc -l; }; daemon='.*slurmd -D -N node002'; "
      "for i in {1..600}; do [ $(count 'sleep 9876[56]') != 2 ] || break; sleep 0.1; done; "
      "echo before $(count 'sleep 9876[56]') $(($(count \"$daemon\") > 0)); "
      "for i in {1..600}; do [ -n \"$(pgrep -x -f \"$daemon\")\" ] || break; sleep 0.1; done; sleep 1; "
      "echo after $(count 'sleep 9876[56]') $(count \"$daemon\"), $(count '.*slurmd -D -N node001') stays; "
      "kill %1; wait");
  INFO(result.err);
  CHECK_THAT(result.err, Contains("fault: node002 is down (requested by --fault "));
  CHECK(result.out == "before 2 1\nafter 0 0, 1 stays\n");
}

TEST_CASE("nothing passes a link that is cut, and what was sent meanwhile arrives when it is whole",
          "[.faults]") {
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--quiet", "--fault", "link-cut:2@4s..9s"});
  // A number ten times a second, from before the cut until after it.
  cluster.write("pulse.py", R"(import os, socket, time
if os.environ["SLURM_PROCID"] == "0":
    link, _ = socket.create_server(("0.0.0.0", 7777)).accept()
    last, longest, count = time.monotonic(), 0, 0
    while data := link.recv(65536):
        now = time.monotonic()
        last, longest, count = now, max(longest, now - last), count + len(data)
    print("silent for more than 4 s:", longest > 4, "arrived:", count, flush=True)
else:
    for i in range(600):
        try: link = socket.create_connection(("node001", 7777)); break
        except OSError: time.sleep(0.1)
    for i in range(140):
        link.sendall(b"x"); time.sleep(0.1)
)");
  const auto result = cluster.run("srun -t 5 -N2 --ntasks-per-node=1 python3 pulse.py");
  INFO(result.err);
  CHECK(result.out == "silent for more than 4 s: True arrived: 140\n");
  CHECK_THAT(result.err, Contains("node002: links cut (requested by --fault") &&
                             Contains("links restored (requested by --fault"));
}

TEST_CASE("a slow link is slow, both ways, and fast again", "[.faults]") {
  const Cluster cluster(
      {"--site", "generic", "--nodes", "2", "--quiet", "--fault", "slow-link:2:1000x@0s..20s"});
  // 4 MB at 10 Mbit/s take 3 s and a part; from the first byte on, so that waiting for the other does not
  // count.
  cluster.write("move.py", R"(import os, socket, time
rank, size = int(os.environ["SLURM_PROCID"]), 4_000_000
def server():
    s = socket.create_server(("0.0.0.0", 7777)); c, _ = s.accept(); return c
def client():
    for i in range(600):
        try: return socket.create_connection(("node001", 7777))
        except OSError: time.sleep(0.1)
link = server() if rank == 0 else client()
def move(sender):
    if rank == sender:
        link.sendall(bytes(size)); link.recv(1); return
    begun, left = None, size
    while left:
        left -= len(link.recv(min(left, 65536))); begun = begun or time.monotonic()
    link.sendall(b"x"); print("to", rank, "slow" if time.monotonic() - begun > 2 else "fast", flush=True)
time.sleep(1)
move(0); move(1)
time.sleep(20)
move(0); move(1)
)");
  const auto result = cluster.run("srun -t 5 -N2 --ntasks-per-node=1 python3 move.py");
  INFO(result.err);
  CHECK(result.out == "to 1 slow\nto 0 slow\nto 1 fast\nto 0 fast\n");
}

TEST_CASE("faults that were waited for in vain are said, and wrong ones before anything starts",
          "[slurm][alone]") {
  const auto idle = Cluster({"--site", "generic", "--quiet", "--fault", "node-down:1@0s"}).run("exit 3");
  CHECK(idle.exit_code == 3);
  CHECK(idle.err == "hpcml emulate: fault: --fault node-down:1@0s was not injected: no job started\n");
  const auto wrong = Cluster({"--site", "generic", "--fault", "node-down:2@1s"}).run("echo ran");
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.out.empty());
  CHECK_THAT(wrong.err, Contains("node 2 does not exist: the cluster has 1 node"));
}
