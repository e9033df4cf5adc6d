// SPDX-License-Identifier: MIT
// Jobs that end before they are done, on a real Slurm: their ranks save, they are requeued, and go on.
#include <catch2/catch.hpp>

#include "core/util/text.hpp"
#include "emulate/cluster_helper.hpp"
#include "shared_directory.hpp"

using namespace hpcml;
using Catch::Contains;
using test::Cluster;
using test::SharedDirectory;

namespace {

/// Counts, saves where it is asked to, goes on there, and is done after a hundred more in its last run. Its
/// words: the restart in which it is done, its exit code then, and a log that has to tell of a save before.
constexpr const char* k_program = R"(
import os, signal, sys, time
asked = []
for name in {os.environ["HPCML_SAVE_SIGNAL"], "TERM"}:
    signal.signal(getattr(signal, "SIG" + name), lambda number, frame: asked.append(number))
restart, last, code = int(os.environ["HPCML_RESTART_COUNT"]), int(sys.argv[1]), int(sys.argv[2])
file = os.path.join(os.environ["HPCML_CHECKPOINT_DIR"], "rank-" + os.environ["RANK"])
count = int(open(file).read()) if os.path.exists(file) else 0
print("begin", os.environ["RANK"], "restart", restart, "at", count and "a checkpoint", flush=True)
end = count + 100
def waits(): return len(sys.argv) > 3 and "saved" not in open(sys.argv[3]).read()
while restart < last or count < end or waits():
    if asked:
        with open(file + ".part", "w") as out: out.write(str(count))
        os.rename(file + ".part", file)
        print("saved", os.environ["RANK"], flush=True)
        sys.exit(0)
    count += 1
    time.sleep(0.01)
print("done", os.environ["RANK"], flush=True)
sys.exit(code)
)";

/// The same in other ways: "sigwait" waits in a thread for the signal, which no handler catches. "requeue"
/// has a handler that saves and requeues the job itself, and passes TERM over, as submitit and Lightning do.
/// "loader" has a child of fork, which inherits the handler and must not run it.
constexpr const char* k_other_program = R"(
import os, signal, subprocess, sys, threading, time
way, last, rank = sys.argv[1], int(sys.argv[2]), os.environ["RANK"]
number = getattr(signal, "SIG" + os.environ["HPCML_SAVE_SIGNAL"])
file = os.path.join(os.environ["HPCML_CHECKPOINT_DIR"], "rank-" + rank)
count, restart, main = 0, int(os.environ["HPCML_RESTART_COUNT"]), os.getpid()
if os.path.exists(file): count = int(open(file).read())
def save(*unused):
    if os.getpid() != main: print("a loader saves", flush=True)
    with open(file + ".part", "w") as out: out.write(str(count))
    os.rename(file + ".part", file)
    print("saved", rank, flush=True)
    if way == "requeue":
        if rank == "0": subprocess.run(["scontrol", "requeue", os.environ["SLURM_JOB_ID"]], check=True)
        return
    os._exit(0)
if way == "sigwait":
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    threading.Thread(target=lambda: save(signal.sigwait([number])), daemon=True).start()
else:
    signal.signal(number, save)
if way == "requeue": signal.signal(signal.SIGTERM, lambda *unused: None)
if way == "loader" and os.fork() == 0:
    while os.getppid() == main: time.sleep(0.05)
    os._exit(0)
print("begin", rank, "restart", restart, "at", count and "a checkpoint", flush=True)
end = count + 100
while restart < last or count < end:
    count += 1
    time.sleep(0.01)
print("done", rank, flush=True)
)";

/// Writes a script that saves and requeues.
void generate(const Cluster& cluster, const SharedDirectory& directory, const std::string& name,
              const std::vector<std::string>& flags, const std::vector<std::string>& words) {
  std::vector<std::string> all = {"--site",          "generic",
                                  "--gpus-per-node", "0",
                                  "--time",          "10",
                                  "--save-before",   "1m",
                                  "--requeue",       "--checkpoint-dir",
                                  directory.path(),  "--output",
                                  name + ".out",     "-o",
                                  name + ".sh"};
  all.insert(all.end(), flags.begin(), flags.end());
  cluster.generate_training(all, words);
}

/// Shell functions: `hear FILE TEXT` waits for a line, `ended JOB` for the end of a job.
constexpr const char* k_shell = R"(
hear() { for i in {1..1800}; do grep -qs -- "$2" "$1" && return; sleep 0.1; done; echo "no '$2' in $1"; }
ended() { for i in {1..1800}; do squeue -h -j "$1" 2> /dev/null | grep -q . || return; sleep 0.1; done; echo "job $1 does not end"; }
told() { scontrol -o show job "$1" | grep -o 'JobState=[A-Z]*\|Restarts=[0-9]*\|ExitCode=[0-9:]*' | xargs; }
)";

std::size_t count(const std::string& text, const std::string& part) {
  return util::split(util::replace_all(text, part, "\x01"), '\x01').size() - 1;
}

} // namespace

TEST_CASE(
    "ranks that are asked to save are requeued and go on, within the bound; of an array the one task alone; "
    "and never after a failure of their own",
    "[slurm][alone]") {
  const SharedDirectory directory;
  // A fault that never comes: a requeued job starts again after 10 seconds then, not after two minutes.
  const Cluster cluster({"--site", "generic", "--nodes", "5", "--quiet", "--fault", "slurmctld-restart@9h"});
  cluster.write("train.py", k_program);
  generate(cluster, directory, "whole", {"--nodes", "2", "--max-requeues", "1"}, {"9", "0"});
  generate(cluster, directory, "array-%a", {"--array", "0-1"}, {"0", "0", "array-1.out"});
  generate(cluster, directory, "failing", {}, {"0", "3"});
  // What Slurm does before the limit: USR1 to the batch shell.
  const auto ran = cluster.run(std::string(k_shell) + R"sh(
whole=$(sbatch --parsable whole.sh)
array=$(sbatch --parsable array-%a.sh)
failing=$(sbatch --parsable failing.sh)
hear array-0.out "begin 0"; hear array-1.out "begin 0"; scancel --batch --signal=USR1 ${array}_1
hear whole.out "begin 0"; hear whole.out "begin 1"; scancel --batch --signal=USR1 $whole
hear whole.out "begin 0 restart 1"; hear whole.out "begin 1 restart 1"; scancel --batch --signal=USR1 $whole
ended $whole; ended $array; ended $failing
echo "whole $(told $whole)"
echo "task 0 $(told ${array}_0)"
echo "task 1 $(told ${array}_1)"
echo "failing $(told $failing)"
)sh");
  const auto whole = cluster.read("whole.out"), failing = cluster.read("failing.out");
  INFO(ran.out << ran.err << whole << cluster.read("array-0.out") << cluster.read("array-1.out") << failing);
  CHECK(ran.out == "whole JobState=COMPLETED Restarts=1 ExitCode=0:0\n"
                   "task 0 JobState=COMPLETED Restarts=0 ExitCode=0:0\n"
                   "task 1 JobState=COMPLETED Restarts=1 ExitCode=0:0\n"
                   "failing JobState=FAILED Restarts=0 ExitCode=3:0\n");
  CHECK(count(whole, "saved 0\n") == 2);
  CHECK(count(whole, "saved 1\n") == 2);
  CHECK_THAT(whole, Contains("begin 0 restart 1 at a checkpoint\n") &&
                        Contains("requeuing job 1, which starts again (restart 1 of at most 1)") &&
                        Contains("job 1 reached its limit of 1 restarts (--max-requeues)"));
  CHECK_THAT(cluster.read("array-1.out"),
             Contains("saved 0\n") && Contains("at a checkpoint\n") && Contains("done 0\n"));
  CHECK_THAT(cluster.read("array-0.out"), !Contains("saved"));
  CHECK_THAT(failing, !Contains("requeuing"));
}

TEST_CASE("submit --continue resumes a job that may not be requeued again", "[slurm]") {
  const SharedDirectory directory;
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--quiet"});
  cluster.write("train.py", k_program);
  generate(cluster, directory, "job", {"--max-requeues", "0"}, {"1", "0"});
  generate(cluster, directory, "array-%a", {"--array", "3", "--max-requeues", "0"}, {"1", "0"});
  const auto ran = cluster.run(std::string(k_shell) + R"sh(
sbatch -Q job.sh; sbatch -Q array-%a.sh
hear job.out "begin 0"; hear array-3.out "begin 0"
hpcml submit --continue 1 2>&1 | grep -o 'job 1 cannot be continued before it ends'
scancel --batch --signal=USR1 1; scancel --batch --signal=USR1 2_3
ended 1; ended 2
hpcml submit --continue 1; hpcml submit --continue 2_3 > /dev/null
ended 3; ended 4; told 3; told 4_3
hpcml submit --continue 3 2>&1 | grep -o 'no record of job 3'
)sh");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output << cluster.read("array-3.out"));
  CHECK_THAT(ran.out, Contains("job 1 cannot be continued before it ends\njob 3 log ") &&
                          Contains("JobState=COMPLETED Restarts=0 ExitCode=0:0\n"
                                   "JobState=COMPLETED Restarts=0 ExitCode=0:0\nno record of job 3\n"));
  CHECK_THAT(output, Contains("reached its limit of 0 restarts (--max-requeues)\n"
                              "hpcml: hint: run hpcml submit --continue 1 to continue it\n") &&
                         Contains("begin 0 restart 1 at a checkpoint\ndone 0\n"));
  CHECK_THAT(cluster.read("array-3.out"),
             Contains("hpcml: hint: run hpcml submit --continue 2_3 to continue it\n") &&
                 Contains("begin 0 restart 1 at a checkpoint\ndone 0\n"));
}

TEST_CASE("an imported script with a loop and pipes saves and resumes", "[slurm]") {
  const SharedDirectory directory;
  const Cluster cluster({"--site", "generic", "--nodes", "1", "--quiet", "--fault", "slurmctld-restart@9h"});
  cluster.write("part.py", R"(
import os, signal, sys, time
asked, part = [], sys.argv[1]
signal.signal(getattr(signal, "SIG" + os.environ["HPCML_SAVE_SIGNAL"]), lambda *unused: asked.append(1))
file = os.path.join(os.environ["HPCML_CHECKPOINT_DIR"], part)
restart = int(os.environ["HPCML_RESTART_COUNT"])
print("part", part, "of restart", restart, "begins", "at a checkpoint" if os.path.exists(file) else "", flush=True)
while not asked and part == "2" and restart == 0: time.sleep(0.01)
open(file, "w").write("saved")
print("part", part, "saved", flush=True)
)");
  cluster.write("old.sh", R"sh(#!/bin/bash
#SBATCH --nodes=1
#SBATCH --time=10
#SBATCH --output=job.out
trap 'echo "the old trap runs"' EXIT
for part in 1 2 3; do
  srun python3 part.py $part 2>&1 | sed -u 's/^/log: /'
done
echo "all parts are done"
)sh");
  const auto generated =
      cluster.generate({"--from", "old.sh", "--site", "generic", "--gpus-per-node", "0", "--save-before",
                        "1m", "--requeue", "--checkpoint-dir", directory.path(), "-o", "job.sh"});
  INFO(generated.err);
  REQUIRE(generated.exit_code == 0);
  const auto ran = cluster.run(std::string(k_shell) + R"sh(
sbatch -Q job.sh; hear job.out "part 2 of restart 0"; scancel --batch --signal=USR1 1
ended 1; told 1
)sh");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK(ran.out == "JobState=COMPLETED Restarts=1 ExitCode=0:0\n");
  CHECK(count(output, "log: part 3 of restart 0") == 0);
  CHECK(count(output, "the old trap runs\n") == 2);
  CHECK(count(output, "all parts are done\n") == 1);
  CHECK_THAT(output, Contains("log: part 2 saved\n") &&
                         Contains("log: part 2 of restart 1 begins at a checkpoint\n") &&
                         Contains("log: part 3 saved\n"));
}

TEST_CASE("programs save and resume with each kind of signal handler", "[slurm]") {
  const SharedDirectory directory;
  const Cluster cluster({"--site", "generic", "--nodes", "4", "--quiet", "--fault", "slurmctld-restart@9h"});
  cluster.write("train.py", k_other_program);
  // A shell without a trap around the program, and a child without a handler beside it.
  cluster.write("wrapper.sh", "sleep 600 &\n\"$@\"\ncode=$?\nkill %1\nexit $code\n");
  const std::string program = HPCML_BINARY_DIR "/bin/saving_program";
  const std::vector<std::pair<std::string, std::vector<std::string>>> rows = {
      {"sigwait", {"bash", "wrapper.sh", "python3", "train.py", "sigwait", "1"}},
      {"requeue", {"bash", "wrapper.sh", "python3", "train.py", "requeue", "1"}},
      {"loader", {"bash", "wrapper.sh", "python3", "train.py", "loader", "1"}},
      {"signalfd", {program, "signalfd", "1"}},
      {"handler", {program, "handler", "1"}},
      {"agent", {program, "signalfd", "1"}}};
  std::string jobs;
  for (const auto& [name, command] : rows) {
    std::vector<std::string> words = {"--site",
                                      "generic",
                                      "--gpus-per-node",
                                      "0",
                                      "--time",
                                      "10",
                                      "--save-before",
                                      "1m",
                                      "--requeue",
                                      "--tasks-per-node",
                                      "2",
                                      "--checkpoint-dir",
                                      directory.path(),
                                      "--output",
                                      name + ".out",
                                      "-o",
                                      name + ".sh"};
    if (name == "agent") words.insert(words.end(), {"--log-dir", "logs"});
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    const auto generated = cluster.generate(words);
    INFO(generated.err);
    REQUIRE(generated.exit_code == 0);
    jobs += " " + name;
  }
  const auto ran = cluster.run(std::string(k_shell) + "declare -A ids\nfor name in" + jobs +
                               "; do ids[$name]=$(sbatch --parsable $name.sh); done\nfor name in" + jobs +
                               R"sh(
do hear $name.out "begin 0"; hear $name.out "begin 1"; scancel --batch --signal=USR1 ${ids[$name]}; done
)sh" + "for name in" + jobs + "; do ended ${ids[$name]}; echo $name $(told ${ids[$name]}); done\n");
  INFO(ran.out << ran.err);
  for (const auto& [name, command] : rows) {
    const auto text = cluster.read(name + ".out");
    INFO(name << ":\n" << text);
    CHECK_THAT(ran.out, Contains(name + " JobState=COMPLETED Restarts=1 ExitCode=0:0\n"));
    for (const std::string rank : {"0", "1"})
      CHECK_THAT(text, Contains("saved " + rank + "\n") &&
                           Contains("begin " + rank + " restart 1 at a checkpoint") &&
                           Contains("done " + rank + "\n"));
    CHECK_THAT(text, !Contains("a loader saves") && !Contains("do not handle"));
  }
}

TEST_CASE("at a real time limit the ranks save, the job is requeued, goes on and is done", "[.faults]") {
  const SharedDirectory directory;
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--quiet", "--fault", "slurmctld-restart@9h"});
  cluster.write("train.py", k_program);
  generate(cluster, directory, "job", {"--nodes", "2", "--time", "1", "--save-before", "20s"}, {"1", "0"});
  const auto ran = cluster.run(std::string(k_shell) + "sbatch -Q job.sh; ended 1; told 1");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK(ran.out == "JobState=COMPLETED Restarts=1 ExitCode=0:0\n");
  for (const std::string rank : {"0", "1"})
    CHECK_THAT(output, Contains("saved " + rank + "\n") &&
                           Contains("begin " + rank + " restart 1 at a checkpoint\n") &&
                           Contains("done " + rank + "\n"));
}

TEST_CASE("jobs that another preempts save, are requeued by Slurm alone, and go on", "[.faults]") {
  const SharedDirectory directory;
  const Cluster cluster({"--site", "generic", "--nodes", "3", "--quiet", "--fault", "preempt@8s..20s"});
  cluster.write("train.py", k_program);
  generate(cluster, directory, "job", {"--array", "0-1", "--max-requeues", "0"}, {"1", "0"});
  const auto ran = cluster.run(std::string(k_shell) + "sbatch -Q job.sh; ended 1; told 1_0; told 1_1");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output);
  CHECK(ran.out ==
        "JobState=COMPLETED Restarts=1 ExitCode=0:0\nJobState=COMPLETED Restarts=1 ExitCode=0:0\n");
  CHECK(count(output, "saved 0\n") == 2);
  CHECK(count(output, "at a checkpoint\n") == 2);
  CHECK_THAT(output, !Contains("requeuing"));
}

TEST_CASE("jobs that another preempts are requeued by their script where the site cancels them, and not "
          "after scancel",
          "[.faults]") {
  const SharedDirectory directory;
  const Cluster cluster(
      {"--site", "generic", "--nodes", "4", "--quiet", "--fault", "preempt:cancel@12s..24s"});
  cluster.write("train.py", k_program);
  generate(cluster, directory, "job", {"--array", "0-1", "--requeue-on", "preempted"}, {"1", "0"});
  generate(cluster, directory, "ended", {"--requeue-on", "preempted"}, {"1", "0"});
  const auto ran = cluster.run(std::string(k_shell) + R"sh(
sbatch -Q job.sh
ended=$(sbatch --parsable ended.sh)
hear ended.out "begin 0"; scancel $ended; ended $ended
ended 1; told 1_0; told 1_1; told $ended | cut -d ' ' -f 1,2
)sh");
  const auto output = cluster.read("job.out");
  INFO(ran.out << ran.err << output << cluster.read("ended.out"));
  CHECK(ran.out == "JobState=COMPLETED Restarts=1 ExitCode=0:0\nJobState=COMPLETED Restarts=1 ExitCode=0:0\n"
                   "JobState=CANCELLED Restarts=0\n");
  CHECK(count(output, "preempted by another job: requeuing job 1_") == 2);
  CHECK_THAT(cluster.read("ended.out"), !Contains("requeuing"));
}

TEST_CASE("an agent's ranks save, nothing is started again in their job, and the record says why it ended",
          "[.faults]") {
  const SharedDirectory directory;
  const Cluster cluster({"--site", "generic", "--nodes", "3", "--quiet", "--fault", "slurmctld-restart@9h"});
  cluster.write("train.py", k_program);
  generate(cluster, directory, "job",
           {"--nodes", "2", "--tasks-per-node", "2", "--log-dir", "logs", "--max-restarts", "2"}, {"1", "0"});
  generate(cluster, directory, "failing", {"--log-dir", "failing-logs", "--requeue-on", "node,preempted"},
           {"0", "3"});
  const auto ran = cluster.run(std::string(k_shell) + R"sh(
sbatch -Q job.sh; sbatch -Q failing.sh
for rank in 0 1 2 3; do hear job.out "begin $rank"; done; scancel --batch --signal=USR1 1
ended 1; ended 2; told 1; told 2
grep -h '"event":"end"' logs/1.0/record-0.jsonl logs/1.0.1/record-0.jsonl failing-logs/2.0/record-0.jsonl | grep -o '"code".*'
)sh");
  const auto output = cluster.read("job.out"), failing = cluster.read("failing.out");
  INFO(ran.out << ran.err << output << failing);
  CHECK(ran.out == "JobState=COMPLETED Restarts=1 ExitCode=0:0\nJobState=FAILED Restarts=0 ExitCode=3:0\n"
                   "\"code\":0,\"restarts\":0,\"class\":\"time-limit\"}\n"
                   "\"code\":0,\"restarts\":0,\"class\":null}\n"
                   "\"code\":3,\"restarts\":0,\"class\":\"program\"}\n");
  CHECK(count(output, "] saved ") == 4);
  CHECK_THAT(failing, Contains("hpcml: the run exited with code 3: program\n") && !Contains("requeuing"));
}
