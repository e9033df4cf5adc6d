// SPDX-License-Identifier: MIT
// Agents under a real Slurm: what a person finds after a crash, a lost node, scancel and a stall; and agents'
// steps beside each other.
#include <catch2/catch.hpp>

#include <filesystem>
#include <regex>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using Catch::Contains;

namespace {

/// A rank of three nodes with two each: rank 3, on node002, dies in the attempts that $2 names.
const char* const k_dies = R"(for i in $(seq 30); do echo line $i of $RANK >&2; done
echo up $RANK
touch up.$1.$RANK.$TORCHELASTIC_RESTART_COUNT
case $2 in *$TORCHELASTIC_RESTART_COUNT*)
  test $RANK = 3 || exec sleep 300
  until [ $(ls up.$1.*.$TORCHELASTIC_RESTART_COUNT | wc -l) = 6 ]; do sleep 0.05; done
  date +%s%N > died.$1
  kill -SEGV $$;;
esac
echo done $RANK
)";

/// It goes on only in a world of four, and says which signals come.
const char* const k_stays = R"(trap 'echo heard TERM $RANK; exit 0' TERM
trap 'echo heard USR1 $RANK; touch usr1.$1.$RANK' USR1
echo up $RANK of $WORLD_SIZE
touch up.$1.$RANK.$WORLD_SIZE
test $WORLD_SIZE = 4 && exit 0
while :; do sleep 0.1; done
)";

const char* const k_script = R"sh(
seen() { for ((i = 0; i < 1200; ++i)); do [ $(ls $1 2> /dev/null | wc -l) -ge $2 ] && return; sleep 0.05; done; echo "never seen: $1"; }
over() {
  for ((i = 0; i < 1200; ++i)); do [[ $(squeue -h) ]] || break; sleep 0.05; done
  scontrol show job $id | grep -oE '(JobState|ExitCode)=[^ ]*' >> $1.out
}
submit() { id=$(sbatch --parsable -o $1.out $1.job); }
job() { "$H" gen --site generic --nodes 3 --gpus-per-node 2 --cpus-per-task 1 --time 5 --hpcml-path "$H" -o $1.job --log-dir logs/$1 "${@:2}"; }
# Slurm's own task on node002 is its agent. A step on the node looks for it, because there another user than root may, too.
second_agent() {
  srun -Q --overlap --jobid=$id -N1 -n1 -w node002 bash -c 'for pid in $(pgrep -f "hpcml launch"); do
    grep -szqx SLURM_NODEID=1 /proc/$pid/environ && [[ $(ps -o comm= -p $(ps -o ppid= -p $pid) 2> /dev/null) = slurmstepd ]] && echo $pid
  done; true'
}
folders() { srun -Q -N3 -n3 sh -c 'ls -A /tmp /var/tmp > $0.$SLURMD_NODENAME' $1; }
folders before
job dies -- bash dies.sh dies 0
submit dies; over dies
job again --max-restarts 2 -- bash dies.sh again 01
submit again; over again

job lost --nnodes 2:3 -- bash stays.sh lost
submit lost
seen 'up.lost.*.6' 6
kill -KILL $(second_agent)
over lost

job asked -- bash stays.sh asked
submit asked
seen 'up.asked.*' 6
scancel --signal=USR1 $id.0
seen 'usr1.asked.*' 6
scancel $id
over asked

job stalls --stall-timeout 1 -- sh -c 'echo up; exec sleep 300'
submit stalls; over stalls

cat > steps.job <<'END'
#!/bin/bash
#SBATCH -N3 --ntasks-per-node=2 -t 5
step() { srun --exact -N3 -n3 --ntasks-per-node=1 -c 1 --mem=10 "$H" launch --bind none --nproc-per-node 2 --log-dir logs/steps "$@"; }
step -- sh -c 'echo first $RANK of $WORLD_SIZE'
step -- sh -c 'echo second $RANK of $WORLD_SIZE'
for i in a b; do
  # Each waits for the other, and starts again once.
  step --max-restarts 1 -- sh -c 'touch beside.$0.$RANK; until [ $(ls beside.* | wc -l) = 12 ]; do sleep 0.05; done
    echo $0 $TORCHELASTIC_RESTART_COUNT $RANK of $WORLD_SIZE; [ $RANK.$TORCHELASTIC_RESTART_COUNT != 2.0 ]' $i || echo bad &
done
wait
END
submit steps; over steps
folders after

# A node without power, as Slurm sees it at last.
job gone --nnodes 2:3 -- bash stays.sh gone
submit gone
seen 'up.gone.*.6' 6
agent=$(second_agent)
kill -KILL $(pgrep -f 'slurmd.*node002') $(ps -o ppid= -p $agent) $agent
scontrol update nodename=node002 state=down reason=power
over gone
ps -eo args | grep -E 'hpcml [l]aunch|[d]ies.sh|[s]tays.sh|[s]leep 300' > left
)sh";

/// What `k_script` left in a folder of its own.
class Evening {
public:
  Evening() {
    write("dies.sh", k_dies);
    write("stays.sh", k_stays);
    write("all.sh", "export H=" HPCML_BINARY + std::string(k_script));
    auto env = util::EnvSnapshot::of_process();
    env.set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    const auto output = util::run_process({"env", "-C", x_directory.path().string(), HPCML_BINARY, "emulate",
                                           "--quiet", "--site", "generic", "--nodes", "3", "--cpus-per-node",
                                           "8", "--gpus-per-node", "2", "--", "bash", "./all.sh"},
                                          env, std::chrono::seconds(1500));
    REQUIRE(output);
    all_output = output->out + output->err;
  }
  void write(const std::string& name, const std::string& text) const {
    REQUIRE(util::write_file((x_directory / name).string(), text));
  }
  std::string read(const std::string& name) const {
    const auto text = util::read_file((x_directory / name).string());
    return text ? *text : text.error().what;
  }
  /// The folder of a job's only step, from where the job ran.
  std::string run_of(const std::string& job) const {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(x_directory / ("logs/" + job), none))
      return "logs/" + job + "/" + entry.path().filename().string() + "/";
    return "no folder of " + job + "/";
  }
  bool has(const std::string& name) const { return std::filesystem::exists(x_directory / name); }

  std::string all_output;

private:
  test::TempDirectory x_directory;
};

unsigned count(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  return static_cast<unsigned>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), wanted), std::sregex_iterator()));
}

/// All of rank 3's death, as the report of it says it.
void check_report(const std::string& text, unsigned reports) {
  CHECK(count(text, "hpcml: error: rank [0-9]+/6 \\(") == reports);
  CHECK(count(text, "hpcml: error: rank 3/6 \\(node002, local 1, GPU 1\\) was killed by SIGSEGV") == reports);
  CHECK(count(text, "hpcml:     line [0-9]+ of 3\n") == 20 * reports);
  CHECK(count(text, "hpcml:     line (11|30) of 3\n") == 2 * reports);
}

/// From the rank's last word until its failure stands in the first node's record: seconds.
double seconds_until_known(const Evening& evening, const std::string& job) {
  const auto record = evening.read(evening.run_of(job) + "record-0.jsonl");
  std::smatch found;
  if (!std::regex_search(record, found,
                         std::regex("\"event\":\"failure\",\"time\":\"[^\"]*T(\\d+):(\\d+):([\\d.]+)Z\"")))
    return -1;
  const double known = std::stod(found[1]) * 3600 + std::stod(found[2]) * 60 + std::stod(found[3]);
  const double died = static_cast<double>(std::stoll(evening.read("died." + job)) / 1000000) / 1000;
  const double took = known - (died - 86400.0 * static_cast<double>(static_cast<long long>(died) / 86400));
  return took < -43200 ? took + 86400 : took;
}

void check_a_crash(const Evening& evening) {
  const auto output = evening.read("dies.out");
  INFO(output);
  check_report(output, 1);
  CHECK_THAT(output, Contains("the other ranks were stopped because rank 3 failed") &&
                         Contains("\nExitCode=139:0\n"));
  CHECK(count(output, "done") == 0);
  const auto took = seconds_until_known(evening, "dies");
  CHECK((took >= -0.01 && took < 5));
  const auto run = evening.run_of("dies");
  CHECK_THAT(evening.read(run + "attempt_0/3/stderr.log"), Contains("line 1 of 3\n") && Contains("line 30"));
  CHECK(evening.read(run + "attempt_0/5/stdout.log") == "up 5\n");
  for (const char* node : {"0", "1", "2"})
    CHECK_THAT(evening.read(run + "record-" + node + ".jsonl"),
               Contains("\"event\":\"end\"") && Contains("\"code\":139"));
}

void check_restarts(const Evening& evening) {
  const auto output = evening.read("again.out");
  INFO(output);
  check_report(output, 2);
  CHECK_THAT(output,
             Contains("restart 1 of 2") && Contains("restart 2 of 2") && Contains("\nExitCode=0:0\n"));
  CHECK(count(output, "\\] done [0-5]\n") == 6);
  for (unsigned rank = 0; rank < 6; ++rank) {
    const auto out = evening.run_of("again") + "attempt_2/" + std::to_string(rank) + "/stdout.log";
    CHECK(evening.read(out) == "up " + std::to_string(rank) + "\ndone " + std::to_string(rank) + "\n");
  }
}

void check_lost_agent(const Evening& evening) {
  const auto output = evening.read("lost.out");
  INFO(output);
  CHECK_THAT(output, Contains("hpcml: the agent of node002 disconnected: it or its node stopped\n"));
  CHECK(count(output, "\\] up [0-3] of 4\n") == 4);
  CHECK_THAT(evening.read(evening.run_of("lost") + "record-0.jsonl"),
             Contains("\"cause_rank\":null,\"why\":\"the agent of node002 disconnected: it or its node "
                      "stopped\",\"pause\":0.000}"));
  for (const char* node : {"0", "2"})
    CHECK_THAT(evening.read(evening.run_of("lost") + "record-" + node + ".jsonl"),
               Contains("\"event\":\"end\"") && Contains("\"code\":0,"));
}

void check_dead_node(const Evening& evening) {
  const auto output = evening.read("gone.out");
  INFO(output);
  CHECK(count(output, "\\] up [0-3] of 4\n") == 4);
  CHECK_THAT(output, Contains("the agent of node002 disconnected: it or its node stopped\n") &&
                         Contains("\nExitCode=0:0\n"));
}

void check_signals(const Evening& evening) {
  const auto output = evening.read("asked.out");
  INFO(output);
  CHECK(count(output, "\\] heard USR1 [0-5]\n") >= 6); // Slurm tells the ranks, too, by the emulation's way
  for (const char* rank : {"0", "1", "2", "3", "4", "5"})
    CHECK_THAT(output, Contains(std::string("heard TERM ") + rank));
  CHECK(count(output, "hpcml: the agent of node00[1-3] received SIGTERM\n") == 1);
  CHECK_THAT(output, Contains("JobState=CANCELLED"));
}

void check_stall(const Evening& evening) {
  const auto output = evening.read("stalls.out");
  INFO(output);
  CHECK_THAT(output, Contains("no output from any rank for 1 s") && Contains("\nExitCode=124:0\n"));
  const auto directory = evening.run_of("stalls") + "attempt_0/";
  CHECK_THAT(evening.read(directory + "stacks.txt"), Contains("sleep"));
  for (const char* node : {"0", "1", "2"})
    CHECK_THAT(evening.read(directory + "stacks-node" + node + ".txt"), Contains("sleep"));
}

void check_steps(const Evening& evening) {
  const auto output = evening.read("steps.out");
  INFO(output);
  for (const char* step : {"first", "second", "a 1", "b 1"})
    CHECK(count(output, std::string("\\] ") + step + " [0-5] of 6\n") == 6);
  CHECK(count(output, "bad") == 0);
  CHECK_THAT(output, Contains("\nExitCode=0:0\n"));
}

} // namespace

TEST_CASE("a crash on the second of three nodes is one report, restarts go over all nodes, lost agents, a "
          "lost node and scancel end as they should, stalls are looked at everywhere, steps do not disturb "
          "each other, and "
          "nothing is left on any node",
          "[slurm]") {
  const Evening evening;
  INFO(evening.all_output);
  CHECK(evening.all_output.empty());
  check_a_crash(evening);
  check_restarts(evening);
  check_lost_agent(evening);
  check_dead_node(evening);
  check_signals(evening);
  check_stall(evening);
  check_steps(evening);
  CHECK(evening.read("left").empty());
  for (const char* node : {"node001", "node002", "node003"})
    CHECK(evening.read(std::string("after.") + node) == evening.read(std::string("before.") + node));
}
