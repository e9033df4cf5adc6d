// SPDX-License-Identifier: MIT
// Ranks meet in steps of a real Slurm, started in each way; and what is said where one of them does not come.
#include <catch2/catch.hpp>

#include <filesystem>
#include <regex>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "python_packages.hpp"
#include "run/launch/process_helper.hpp"
#include "skip.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// Runs a bash script on three emulated nodes in a folder of its own, where $H is hpcml.
class Nodes {
public:
  Nodes() : x_directory(make_directory()) {}
  ~Nodes() { std::filesystem::remove_all(x_directory); }
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  std::string path(const std::string& name) const { return x_directory + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    REQUIRE(util::write_file(path(name), text, 0755));
  }
  std::string read(const std::string& name) const {
    const auto text = util::read_file(path(name));
    return text ? *text : text.error().what;
  }
  void run(const std::string& script) const {
    write("all.sh", "export H=" HPCML_BINARY "\n" + script);
    auto env = util::EnvSnapshot::of_process();
    env.set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    const auto output =
        util::run_process({"env", "-C", x_directory, HPCML_BINARY, "emulate", "--site", "generic", "--nodes",
                           "3", "--cpus-per-node", "8", "--", "bash", "./all.sh"},
                          env, std::chrono::seconds(1500));
    REQUIRE(output);
    INFO(output->out << output->err);
    REQUIRE(output->exit_code == 0);
  }

private:
  std::string x_directory;
};

unsigned count(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  return static_cast<unsigned>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), wanted), std::sregex_iterator()));
}

/// The first group of the pattern; -1 where it is not there.
double number_in(const std::string& text, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? std::stod(found[1]) : -1;
}

// Rank 0 ends at once; the others still find the store a second later, and say so in one write. "outlive":
// ranks 2 and 3 after rank 1 has gone, too; "first": they end before it.
const char* const k_program = R"(import datetime, os, sys, time
import torch
import torch.distributed as dist

def say(*words):
    os.write(1, (" ".join(str(word) for word in words) + "\n").encode())

rank, limit = int(os.environ["RANK"]), datetime.timedelta(seconds=60)
dist.init_process_group("gloo", timeout=limit)
value = torch.tensor([rank + 1.0])
dist.all_reduce(value)
dist.barrier()
say("rank", rank, "of", dist.get_world_size(), "sum", int(value.item()), "at",
    os.environ["MASTER_ADDR"] + ":" + os.environ["MASTER_PORT"], os.environ["HPCML_STORE_ADDR"])
if rank > 0 and sys.argv[1] != "end":
    from torch.distributed import distributed_c10d
    store = distributed_c10d._get_default_store()
    before = {"outlive": [[], ["done1"], ["done1"]], "first": [["done2", "done3"], [], []]}
    if before[sys.argv[1]][rank - 1]:
        store.wait(before[sys.argv[1]][rank - 1], limit)
    time.sleep(1)
    store.set("late", "yes")
    say("rank", rank, "later", store.get("late").decode())
    store.set("done%d" % rank, "yes")
elif rank > 0:
    time.sleep(0.5)
os._exit(0)
)";

// Who serves: the script, the launch that stays, rank 0's launcher, rank 0's program.
const char* const k_ways = R"(i=0
for python in $PYTHONS; do
  i=$((i + 1))
  "$H" gen --site generic --nodes 2 --gpus-per-node 0 --tasks-per-node 2 --time 5 --store own --hpcml-path "$H" -o script-$i.sh -- $python -W ignore program.py outlive
  sbatch -W -o script-$i.out script-$i.sh
  cat > steps-$i.sh <<END
export OMP_NUM_THREADS=1
for order in outlive first; do
  srun -N2 -n2 --ntasks-per-node=1 "$H" launch --bind none --nproc-per-node 2 --store own -- $python -W ignore program.py \$order > stays-\$order-$i.out 2>&1
done
began=\$(date +%s%N)
srun -N2 -n4 --distribution=cyclic "$H" launch --bind none --store own -- $python -W ignore program.py outlive > bare-$i.out 2>&1
echo took \$(((\$(date +%s%N) - began) / 1000000)) >> bare-$i.out
srun -N2 -n4 "$H" launch --bind none --store env -- $python -W ignore program.py end > env-$i.out 2>&1
END
  salloc -Q -N2 --ntasks-per-node=2 -t 5 bash ./steps-$i.sh
done
)";

} // namespace

TEST_CASE("ranks of a real torch meet however they are started, and the store stays when rank 0 has gone",
          "[slurm]") {
  const auto pythons = test::torch_pythons();
  if (pythons.empty()) return test::skip_missing("python3-torch");
  const Nodes nodes;
  nodes.write("program.py", k_program);
  nodes.run("PYTHONS=\"" + util::join(pythons, " ") + "\"\n" + k_ways);
  for (std::size_t i = 1; i <= pythons.size(); ++i)
    for (const std::string way : {"script", "stays-outlive", "stays-first", "bare", "env"}) {
      const auto output = nodes.read(way + "-" + std::to_string(i) + ".out");
      INFO(pythons[i - 1] << " " << way << ":\n" << output);
      std::smatch place;
      REQUIRE(std::regex_search(output, place, std::regex("rank 0 of 4 sum 10 at (node00[1-3]:[0-9]+) ")));
      for (const std::string rank : {"1", "2", "3"})
        CHECK_THAT(output, Contains("rank " + rank + " of 4 sum 10 at " + place[1].str() + " "));
      const bool outlives = way != "env";
      CHECK(count(output, "rank [1-3] later yes") == (outlives ? 3U : 0U));
      if (outlives) CHECK(count(output, " at ([^ ]*) \\1\n") == 4); // the program's store is hpcml's
    }
}

TEST_CASE("a rank that never starts, one that dies before it is heard of and one that nobody sent are named; "
          "a step lasts as long as its ranks, and a script's store as long as the script",
          "[slurm][alone]") {
  const Nodes nodes;
  nodes.run(R"sh(cat > steps.sh <<'END'
dies() { [[ $SLURM_PROCID != "$1" ]] || exit 3; shift; exec "$H" launch --bind none "$@"; }
export -f dies
S="srun -N3 --ntasks-per-node=2"
$S bash -c 'dies 4 --rendezvous-timeout 8 -- echo started' > dies.out 2>&1; echo code $? >> dies.out
printf '0-4 %s launch --bind none --rendezvous-timeout 8 -- echo started\n5 sleep 9\n' "$H" > programs
$S --multi-prog programs > stranger.out 2>&1; echo code $? >> stranger.out
$S bash -c '[[ $SLURM_PROCID != 5 ]] || sleep 2; exec "$H" launch --bind none -- echo started' > late.out 2>&1
echo code $? >> late.out
for store in own env; do
  $S "$H" launch --bind none --store $store -- sh -c 'sleep 1; date +%s%N > '$store.ended.'$RANK' > $store.out 2>&1
  ended=$(date +%s%N)
  echo ranks $(ls $store.ended.* | wc -l), after the last $(((ended - $(sort -n $store.ended.* | tail -n 1)) / 1000000)) >> $store.out
done
# A node that takes the step and never starts its tasks.
kill -STOP $(pgrep -f 'slurmd.*node003')
$S "$H" launch --bind none --rendezvous-timeout 4 -- echo started > frozen.out 2>&1 &
for ((i = 0; i < 1000; ++i)); do ! grep -q 'not all ranks' frozen.out || break; sleep 0.1; done
kill -CONT $(pgrep -f 'slurmd.*node003')
wait
END
salloc -Q -N3 --ntasks-per-node=2 -t 5 bash ./steps.sh
"$H" gen --site generic --nodes 2 --gpus-per-node 0 --tasks-per-node 2 --time 5 --hpcml-path "$H" -o hold.sh -- sleep 60
id=$(sbatch --parsable -o hold.out hold.sh)
for ((i = 0; i < 1000; ++i)); do ! pgrep -x hpcml-store > /dev/null || break; sleep 0.1; done
echo "there: $(pgrep -xc hpcml-store)" > script.out
scancel $id
for ((i = 0; i < 1000; ++i)); do [[ $(squeue -h) ]] || break; sleep 0.1; done
for ((i = 0; i < 300; ++i)); do pgrep -x hpcml-store > /dev/null || break; sleep 0.1; done
echo "left: $(pgrep -xc hpcml-store)" >> script.out)sh");
  const auto died = nodes.read("dies.out");
  INFO(died);
  CHECK(
      count(
          died,
          "rank 0/6 \\(node001, local 0\\): rendezvous timed out after 8 s: rank 4/6 \\(node003, local 0\\) "
          "has not connected for [0-9]+ s: its task has not started, has exited, or has not reached hpcml "
          "launch\n") == 1);
  CHECK(count(died, "started\n") == 4); // all but rank 0's and the dead one's
  CHECK_THAT(died, Contains("\ncode 125\n"));
  const auto stranger = nodes.read("stranger.out");
  INFO(stranger);
  CHECK_THAT(stranger, Contains("rank 5/6 (node003, local 1) has not connected for ") &&
                           Contains("set --rendezvous-timeout SECONDS to wait longer (0: do not wait)"));
  const auto late = nodes.read("late.out");
  INFO(late);
  CHECK(count(late, "started\n") == 6);
  CHECK_THAT(late, Contains("\ncode 0\n"));
  for (const char* store : {"own", "env"}) {
    const auto output = nodes.read(std::string(store) + ".out");
    INFO(store << ": " << output);
    CHECK_THAT(output, Contains("ranks 6, after the last "));
    CHECK(number_in(output, "after the last ([0-9]+)") < 5000); // the store stays for 5 s more
  }
  CHECK(nodes.read("script.out") == "there: 1\nleft: 0\n");
  const auto frozen = nodes.read("frozen.out");
  INFO(frozen);
  CHECK_THAT(frozen, Contains("rendezvous timed out after 4 s: ") &&
                         Contains("rank 4/6 (node003, local 0) has not connected") &&
                         Contains("rank 5/6 (node003, local 1) has not connected"));
}

// Rank 0's node serves. Its rank waits until that of the other node is there, and ends: with 3 where it
// "fails". The other one asks the store once more a second later, or listens for its end.
const char* const k_clients = R"sh(exec 3<>"/dev/tcp/${HPCML_STORE_ADDR%:*}/${HPCML_STORE_ADDR##*:}"
text() { printf "\\x$(printf %02x ${#1})\\0\\0\\0\\0\\0\\0\\0%s" "$1"; }
set() { { printf '\0'; text "$1"; text yes; } >&3; }
await() { { printf '\5\1\0\0\0\0\0\0\0'; text "$1"; } >&3 && head -c 1 <&3 > answer.$RANK; } # torch 1's words
if [[ $RANK == 0 ]]; then
  echo $$ > rank.pid
  await here && set going
  [[ $1 == fails ]] && exit 3
  exit 0
fi
set here
if [[ $1 != ends ]]; then
  [[ $1 == fails ]] || { await going && sleep 1 && touch alone; }
  timeout 100 cat <&3 > rest
  [[ $? == 124 ]] || echo rank 1 hears that the store ends
elif await going; then
  sleep 1
  await here && [[ $(od -An -tx1 answer.1) == *00* ]] && echo rank 1 finds the store
fi
)sh";

TEST_CASE(
    "a launch of ranks that ends first keeps their store until the other node's ranks have left, and not "
    "where one of its ranks has failed or it is sent a signal to end",
    "[slurm][alone]") {
  const Nodes nodes;
  nodes.write("clients.sh", k_clients);
  nodes.run(R"sh(cat > steps.sh <<'END'
S="srun -N2 --ntasks-per-node=1 --kill-on-bad-exit=0"
run() {
  $S bash -c 'echo $$ > pid.$SLURM_NODEID; exec "$H" launch --bind none --nproc-per-node 1 --store own -- bash ./clients.sh '$1 > $1.out 2>&1
  echo code $? >> $1.out
}
run ends
run fails
run stops &
for ((i = 0; i < 1000; ++i)); do [[ ! -e alone ]] || break; sleep 0.1; done
for ((i = 0; i < 1000; ++i)); do kill -0 $(< rank.pid) || break; sleep 0.1; done 2> /dev/null
sleep 0.5
kill -TERM $(< pid.0)
wait
# Who is left belongs to the node: the launch ends with its ranks.
timeout 100 $S "$H" launch --bind none --nproc-per-node 1 --store own -- bash -c '
  [[ $RANK == 0 ]] || exit 0
  exec 3<>"/dev/tcp/${HPCML_STORE_ADDR%:*}/${HPCML_STORE_ADDR##*:}"
  printf "\0\1\0\0\0\0\0\0\0k\1\0\0\0\0\0\0\0v" >&3
  setsid sleep 600 > /dev/null 2>&1 & echo $! > sleeper' > alone.out 2>&1
echo code $? >> alone.out
kill $(< sleeper)
END
salloc -Q -N2 --ntasks-per-node=1 -t 5 bash ./steps.sh)sh");
  const std::string end = "rank 1 hears that the store ends\n";
  CHECK_THAT(nodes.read("ends.out"), Contains("rank 1 finds the store\n") && Contains("code 0\n"));
  CHECK_THAT(nodes.read("fails.out"), Contains(end) && Contains("code 3\n"));
  CHECK_THAT(nodes.read("stops.out"), Contains(end) && Contains("code 143\n"));
  CHECK_THAT(nodes.read("alone.out"), Contains("code 0\n"));
}
