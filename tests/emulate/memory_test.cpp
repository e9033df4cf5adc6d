// SPDX-License-Identifier: MIT
// Limits on the memory of jobs, and jobs that run out of it, by the kernel's own control groups.
#include <catch2/catch.hpp>
#include <filesystem>

#include "emulate/cluster_helper.hpp"
#include "emulate/memory_groups.hpp"
#include "holds.hpp"
#include "temp_folder.hpp"
#include "util/file.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using Catch::Contains;
using test::Cluster;

namespace {

/// Whether this machine can limit memory; why not is said.
bool can_limit() {
  const auto group = emulate::make_memory_group();
  if (group)
    emulate::remove_memory_group(*group);
  else
    WARN("not run: " << group.error().what);
  return group.ok();
}

constexpr const char* k_program =
    "import time\nx = bytearray(50_000_000)\nprint('up', flush=True)\ntime.sleep(600)\n";
constexpr const char* k_state =
    "for i in {1..300}; do scontrol show job 1 | grep -q JobState=COMPLETING || break; sleep 0.1; "
    "done; scontrol show job 1 | grep -o 'JobState=[A-Z_]*'";

} // namespace

TEST_CASE("a node's Slurm sees the sandbox's group as the top of the machine's, and in it its own") {
  const test::TempFolder folder;
  const auto group = folder.path() / "group";
  const auto state = folder.path().string(), view = state + "/nodes/n1/cgroup";
  REQUIRE(fs::create_directory(group));
  REQUIRE(util::write_file(group / "memory.limit_in_bytes", "7"));
  REQUIRE(emulate::make_memory_view(group, "n1", state));
  CHECK(util::read_file(view + "/memory/memory.limit_in_bytes").value_or("") == "7");
  CHECK(fs::exists(view + "/memory/release_agent")); // by which Slurm knows it
  const auto own = emulate::node_memory_group(group, "n1");
  CHECK(fs::is_directory(own));
  CHECK(fs::canonical(view + "/memory/slurm_n1") == fs::canonical(own));
  CHECK(fs::canonical(view + "/memory/slurm") == fs::canonical(own));
  const auto conf = emulate::make_cgroup_conf(group, "/m");
  CHECK_THAT(conf, Contains("CgroupMountpoint=/m/cgroup\n") && Contains("ConstrainRAMSpace=yes\n") &&
                       !Contains("Swap"));
  REQUIRE(util::write_file(group / "memory.memsw.limit_in_bytes", "7"));
  CHECK_THAT(emulate::make_cgroup_conf(group, "/m"), Contains("AllowedSwapSpace=0\n"));
}

TEST_CASE("a job whose memory ends on a node is out of memory by Slurm's word and by ours", "[slurm]") {
  if (!can_limit()) return;
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--quiet", "--fault", "oom:2@2s"});
  cluster.write("rank.py", k_program);
  const auto result =
      cluster.run("srun -t 5 -N2 --ntasks-per-node=1 --mem=1G hpcml launch --nproc-per-node 1 "
                  "--log-dir logs -- python3 rank.py > out; " +
                  std::string(k_state));
  INFO(result.err << result.out);
  CHECK(result.out == "JobState=OUT_OF_MEMORY\n");
  CHECK_THAT(result.err,
             Contains("fault: node002 has no memory left for job 1: the kernel has killed its ") &&
                 Contains("oom-kill event") && Contains("node002: task 1: Out Of Memory"));
  CHECK_THAT(result.err, Contains("rank 1 (local rank 0 on host node002") &&
                             Contains("out of memory: the kernel killed 1 process for want of memory") &&
                             Contains("hpcml launch: the run ended with 137: out-of-memory\n"));
  const auto record = cluster.read("logs/1.0/record-0.jsonl");
  INFO(record);
  CHECK_THAT(record, Contains("\"code\":137") && Contains("\"class\":\"out-of-memory\""));
}

TEST_CASE("a job that runs out of memory is told so by submit --watch and by why, with and without an agent",
          "[.faults]") {
  if (!can_limit()) return;
  const bool agent = GENERATE(false, true);
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--gpus-per-node", "0", "--cpus-per-node", "4",
                         "--mem-per-node", "8G", "--quiet", "--fault", "oom:2@4s"});
  cluster.write("rank.py", k_program);
  const auto result =
      cluster.run("hpcml submit --watch --site generic --nodes 2 --tasks-per-node 1 --gpus-per-node 0 --time "
                  "5 --mem 1G " +
                  std::string(agent ? "--agent " : "") +
                  "--output job.out -- python3 rank.py > /dev/null; echo code $?; hpcml why job.out");
  INFO(result.err << result.out << cluster.read("job.out"));
  CHECK_THAT(result.out, Contains("code 137\n"));
  CHECK_THAT(result.err, Contains("task 1 on node002 was killed: Out Of Memory") &&
                             Contains("job 1 ended with 137: out-of-memory\n"));
  CHECK_THAT(result.out, Contains("a process used more memory than the job has: more --mem"));
  CHECK(test::holds(cluster.read("job.out"), "the run ended with 137: out-of-memory") == agent);
}

TEST_CASE("launch on one node tells a rank that the kernel has killed for want of memory", "[.faults]") {
  if (!can_limit()) return;
  const Cluster cluster({"--site", "generic", "--quiet", "--fault", "oom:1@3s"});
  cluster.write("rank.py", k_program);
  const auto result = cluster.run("sbatch -W -t 5 --mem=1G -o job.out --wrap 'hpcml launch --nproc-per-node "
                                  "2 -- python3 rank.py' > /dev/null; " +
                                  std::string(k_state));
  const auto log = cluster.read("job.out");
  INFO(result.err << log);
  CHECK(result.out == "JobState=OUT_OF_MEMORY\n");
  CHECK_THAT(
      log, Contains("was killed by SIGKILL after ") &&
               Contains(" s: the kernel killed 1 process for want of memory: the ") &&
               Contains("; the others were stopped\nhpcml launch: the run ended with 137: out-of-memory\n"));
}

TEST_CASE("a job gets no more memory than it asked for, where that is wanted", "[.faults]") {
  if (!can_limit()) return;
  const std::string take =
      "srun -t 5 --mem=64M python3 -c 'x = bytearray(300_000_000); print(\"had it\")' 2> err; "
      "grep -c 'Out Of Memory' err";
  const auto limited = Cluster({"--site", "generic", "--quiet", "--limit-memory"}).run(take);
  INFO(limited.err);
  CHECK(limited.out == "1\n");
  CHECK(Cluster({"--site", "generic", "--quiet"}).run(take).out == "had it\n0\n");
}

TEST_CASE("no control group is left, also where emulate is killed", "[.faults]") {
  if (!can_limit()) return;
  const test::TempFolder folder;
  // The group in which a task is, up to the sandbox's own, as the machine sees it.
  REQUIRE(util::write_file(folder.path() / "task.sh",
                           "path=$(grep :memory: /proc/self/cgroup | cut -d: -f3); "
                           "echo \"${path%/slurm_*}\" > group.new; mv group.new group; sleep $1\n"));
  const auto run = [&](const std::string& end) {
    return util::run_process(
        {"env", "-C", folder.path().string(),
         std::string("PATH=" HPCML_BINARY_DIR "/bin:") + ::getenv("PATH"), "bash", "-c",
         "rm -f group; hpcml emulate --quiet --site generic --limit-memory -- srun -t 5 bash task.sh " + end +
             " until [ -s group ]; do sleep 0.1; done; top=/sys/fs/cgroup/memory$(cat group); "
             "case $top in */hpcml-??????) ;; *) echo \"no group: $top\";; esac; [ $pid = 0 ] || kill -9 "
             "$pid; "
             "for i in {1..300}; do [ -e $top ] || exit 0; sleep 0.1; done; echo left; exit 1"},
        util::EnvSnapshot::of_process(), std::chrono::seconds(300));
  };
  for (const std::string end : {"0; pid=0;", "600 & pid=$!;"}) {
    const auto ran = run(end);
    REQUIRE(ran);
    INFO(end << ran->out << ran->err);
    CHECK(ran->exit_code == 0);
    CHECK(ran->out.empty());
  }
}
